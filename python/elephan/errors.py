"""What can go wrong, by who can mend it.

An `InputError` is the caller's: its message is one line that names the place first and says what would be right. The
command line turns it into exit code 2; anything else is a defect of elephan (exit code 70).
"""


class ElephanError(Exception):
    """Base of everything elephan raises on purpose."""


class InputError(ElephanError, ValueError):
    r"""Something that was given cannot be used; the message says where and what would be right.

    Parameters
    ----------
    message : str
        Whatever was quoted in it, it becomes one line.

    Examples
    --------
    >>> str(InputError("place: what\nis wrong"))
    'place: what is wrong'
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class ScenarioError(InputError):
    """A scenario that cannot be read or built."""


class UnitError(InputError):
    """A quantity without a unit, or with one that means nothing here."""


class TargetError(InputError):
    """A target that cannot be read."""
