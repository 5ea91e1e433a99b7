"""Optional packages, and how to install them if they are missing."""

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
    "starlette": "web",
    "uvicorn": "web",
    "dpkt": "captures",
}
"""Extra of elephan that installs each module."""


def missing(*modules: str) -> list[str]:
    """Return which of some modules are not installed.

    Examples
    --------
    >>> missing("math", "no_such_module")
    ['no_such_module']
    """
    return [name for name in modules if find_spec(name) is None]


def require(what: str, *modules: str) -> None:
    """Refuse a task whose modules are not installed, before any work is done.

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
    """Return the error to show for a missing module; None if the module is not optional."""
    name = (error.name or "").partition(".")[0]
    return InputError(_message("this", [name])) if name in EXTRAS else None


def _message(what: str, lacking: list[str]) -> str:
    extras = ",".join(dict.fromkeys(EXTRAS[name] for name in lacking if name in EXTRAS))
    return f"{what} needs {' and '.join(lacking)}, not installed here; pip install 'elephan[{extras}]'"
