"""Packages that elephan works without, and what is to be installed where one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from elephan.errors import InputError

EXTRAS = {
    "pyarrow": "tables",
    "matplotlib": "plots",
    "bokeh": "report",
    "jinja2": "report",
    "pandas": "frames",
    "polars": "frames",
    "xarray": "frames",
    "distributed": "cluster",
    "gymnasium": "gym",
}
"""By the name of a module, the extra of elephan that brings it."""


def missing(*modules: str) -> list[str]:
    """Return which of some modules are not installed.

    Examples
    --------
    >>> missing("math", "no_such_module")
    ['no_such_module']
    """
    return [name for name in modules if find_spec(name) is None]


def require(what: str, *modules: str) -> None:
    """Refuse what needs modules that are not installed, before any work is done.

    Parameters
    ----------
    what : str
        As the message begins.
    *modules : str

    Raises
    ------
    InputError
        If one is missing.

    Examples
    --------
    >>> require("--out", "math")
    """
    lacking = missing(*modules)
    if lacking:
        raise InputError(_message(what, lacking))


def of_error(error: ModuleNotFoundError) -> InputError | None:
    """Return what to tell a user of a module that is missing; None if elephan does not do without it."""
    name = (error.name or "").partition(".")[0]
    return InputError(_message("this", [name])) if name in EXTRAS else None


def _message(what: str, lacking: list[str]) -> str:
    extras = ",".join(dict.fromkeys(EXTRAS[name] for name in lacking if name in EXTRAS))
    return f"{what} needs {' and '.join(lacking)}, not installed here; pip install 'elephan[{extras}]'"
