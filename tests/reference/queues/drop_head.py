"""Drop from front: an arrival that does not fit takes the place of the packets that have waited longest.

Source: T. V. Lakshman, A. Neidhardt, T. J. Ott, "The drop from front strategy in TCP and in TCP over ATM",
INFOCOM 1996.

Choices: an arrival larger than the whole buffer empties it and is lost, too.
"""

from .discipline import Fifo
from .packet import Packet


class DropHead(Fifo):
    """First-in first-out; what is dropped is at the head."""

    def arrive(self, p: Packet, now: int) -> None:
        while not self.has_room(p) and self.queue:
            oldest = self.queue.popleft()
            self.leave(oldest)
            self.drop(oldest, now, "overflow")
        if not self.has_room(p):
            return self.drop(p, now, "overflow")
        self.queue.append(p)
        self.enter(p)
        return None
