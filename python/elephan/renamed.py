"""Names of an earlier version: they still work, with a warning that says what they are called today."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def warn_renamed(old: str, new: str, stacklevel: int = 3) -> None:
    """Warn that a name has changed.

    Parameters
    ----------
    stacklevel : int
        Whose line the warning shows; by default that of the caller's caller.
    """
    warnings.warn(f"{old} is now called {new}", DeprecationWarning, stacklevel)


def renamed_attributes(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a module whose old names still work.

    Parameters
    ----------
    module : str
        Its name.
    names : mapping of str to str
        Today's name of each old one.

    Examples
    --------
    >>> import warnings
    >>> import elephan.stats
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     elephan.stats.Paired is elephan.stats.PairedDifference, str(caught[0].message)
    (True, 'elephan.stats.Paired is now called elephan.stats.PairedDifference')
    """

    def attribute(name: str) -> Any:
        if name not in names:
            message = f"module {module!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[module])
        warn_renamed(f"{module}.{name}", f"{module}.{names[name]}")
        return getattr(sys.modules[module], names[name])

    return attribute
