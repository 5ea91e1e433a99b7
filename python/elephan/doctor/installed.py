"""Probes of installed software: Python, the extension, packages, programs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from importlib import metadata, util
from pathlib import Path

from elephan import _native
from elephan.doctor.finding import LIMITED, MISSING, OK, ProbeFinding, install, pip

LEAST_PYTHON = (3, 11)


def python() -> ProbeFinding:
    """Check whether Python is recent enough."""
    found = f"{sys.version.split()[0]} at {sys.executable}"
    if sys.version_info < LEAST_PYTHON:
        return ProbeFinding(MISSING, found, install({"": "python3.11", "pacman": "python", "apk": "python3"}))
    return ProbeFinding(OK, found)


def root() -> Path:
    """Return the folder above the package; in a checkout, its root."""
    return Path(__file__).resolve().parents[3]


def is_checkout() -> bool:
    """Whether this package is in a checkout, not installed from a wheel."""
    return (root() / "Makefile").exists() and (root() / "crates").is_dir()


def extension() -> ProbeFinding:
    """Check that the extension matches this package and catches panics."""
    version = _native.version()
    try:
        package = metadata.version("elephan")
    except metadata.PackageNotFoundError:
        package = version
    rebuild = "make build" if is_checkout() else pip("--force-reinstall", "elephan")
    if package != version:
        return ProbeFinding(LIMITED, f"version {version}, but the package is {package}", rebuild)
    if not getattr(_native, "unwinds", lambda: True)():
        return ProbeFinding(
            LIMITED, f"{version}, built without unwinding: a defect of the engine would end Python", rebuild
        )
    return ProbeFinding(OK, version)


def packages(*names: str) -> Callable[[], ProbeFinding]:
    """Make the probe of optional packages."""

    def look() -> ProbeFinding:
        lacking = [name for name in names if util.find_spec(name.replace("-", "_")) is None]
        there = ", ".join(f"{name} {_version(name)}" for name in names if name not in lacking)
        if not lacking:
            return ProbeFinding(OK, there)
        text = f"{there}; not {', '.join(lacking)}" if there else f"no {', '.join(lacking)}"
        return ProbeFinding(LIMITED if there else MISSING, text, pip(*lacking))

    return look


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def program(name: str, managers: dict[str, str]) -> Callable[[], ProbeFinding]:
    """Make the probe of a program.

    Parameters
    ----------
    name : str
        Name of the executable.
    managers : dict of str to str
        As in `install`.
    """

    def look() -> ProbeFinding:
        # System programs are in folders that are not on every user's path.
        path = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
        return ProbeFinding(OK, path) if path else ProbeFinding(MISSING, "not installed", install(managers))

    return look


def pictures() -> ProbeFinding:
    """Check whether pictures can be drawn without a display, including their text."""
    if util.find_spec("matplotlib") is None:
        return ProbeFinding(MISSING, "no matplotlib", pip("matplotlib"))
    import matplotlib as mpl  # noqa: PLC0415 (slow to import)
    from matplotlib import font_manager  # noqa: PLC0415 (as above)

    font = Path(str(font_manager.findfont(font_manager.FontProperties()))).stem
    found = f"matplotlib {mpl.__version__}, backend {mpl.get_backend()}, font {font}"
    return ProbeFinding(OK, found)
