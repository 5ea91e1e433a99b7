"""Drop-tail: first-in first-out, an arrival that does not fit is dropped.

Source: none is needed; S. Floyd, V. Jacobson, IEEE/ACM ToN 1(4), 1993, section 1, describe what everybody had.
"""

from .discipline import Fifo


class DropTail(Fifo):
    """No rule besides the room in the buffer."""
