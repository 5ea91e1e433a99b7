"""Congestion-control laws of users, written as Python classes or in shared libraries, and their declaration.

A scenario names such a law with ``control = "mine"`` or ``control = { law = "mine", gain = 2 }``. If the law is
declared, the hash of its source is added to the scenario, and so becomes part of the id of each result.
"""

from __future__ import annotations

import contextlib
import dis
import importlib.util
import inspect
import sys
import textwrap
import threading
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, TypeAlias

from elephan import _native
from elephan.errors import InputError, LawError
from elephan.input_files import check_readable

METHODS = ("on_ack", "on_recovery_ack", "on_loss", "on_rtt_round", "on_restart")
"""Hook methods that a law class may define; only those defined are called."""

NEEDS = ("every_rtt", "marks")
"""Names allowed in the attribute ``needs`` of a law class."""

_MODULE = "elephan_law_"
"""Prefix of the names of modules that `load` creates."""

_loading = threading.Lock()
"""Lock for `load`: several threads must not create the same module at the same time."""

LIBRARY_SUFFIX = ".so"
"""File name extension of shared libraries."""

_SHARED = (list, dict, set, bytearray)
"""Types of class attributes that are refused, because all flows would share them."""


@dataclass(frozen=True)
class OwnLaw:
    """A declared law: a Python class and its name.

    Made by `own_law`.

    Parameters
    ----------
    name : str
    cls : type
    source : str
        BLAKE3 hash of the text that `hashed` returns, hexadecimal.
    wants_flow : bool
        Whether the constructor has a parameter ``flow``.
    on_ack, on_recovery_ack, on_loss, on_rtt_round, on_restart : bool
        Whether the class has these methods.
    every_rtt, marks : bool
        Whether ``needs`` contains these names.
    """

    name: str
    cls: type
    source: str
    wants_flow: bool
    on_ack: bool
    on_recovery_ack: bool
    on_loss: bool
    on_rtt_round: bool
    on_restart: bool
    every_rtt: bool
    marks: bool
    parameters: tuple[str, ...] | None = field(default=None, compare=False)
    """Names of the constructor's parameters; None if any are allowed."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Pickle the law by the name of its file if `load` has loaded it, otherwise by its class."""
        module = sys.modules.get(self.cls.__module__)
        if self.cls.__module__.startswith(_MODULE) and module is not None:
            return load, (f"{self.name}={module.__file__}:{self.cls.__name__}",)
        return own_law, (self.name, self.cls)


@dataclass(frozen=True)
class LibraryLaw:
    """A declared law: a law in a shared library and its name in scenarios.

    Made by `library_law`.

    Parameters
    ----------
    name : str
    file : str
        The library, as an absolute path.
    law : str
        Name of the law in the library.
    source : str
        BLAKE3 hash of the library's bytes and of the law's name in it, hexadecimal.
    parameters : tuple of str
    """

    name: str
    file: str
    law: str
    source: str
    parameters: tuple[str, ...] = field(default=(), compare=False)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Pickle the law by the name of its file."""
        return library_law, (self.name, self.file, self.law)


AnyOwnLaw: TypeAlias = OwnLaw | LibraryLaw

# A law as the parameter `laws` takes it: a class, or the path of a shared library, followed by `:LAW` if the library
# has several laws.
LawSource: TypeAlias = type | str | Path | OwnLaw | LibraryLaw


def library_law(name: str, file: str | Path, law: str = "") -> LibraryLaw:
    """Open a shared library that exports laws; its code runs with the rights of the user.

    Parameters
    ----------
    name : str
        Name of the law in scenarios.
    file : str or Path
        The library, such as ``target/release/libmine.so``.
    law : str, optional
        Name of the law in the library; needed if the library has several.

    Returns
    -------
    LibraryLaw

    Raises
    ------
    InputError
        If the name is invalid, if the file or the law does not exist, or if the library is for another machine or
        another version of elephan.
    """
    where = f"law {name}"
    _check_name(name)
    path = Path(file).absolute()
    check_readable(file, "library of laws (.so)", where)
    try:
        found = {each: (source, parameters) for each, source, parameters in _native.law_library(path)}
    except InputError as error:
        raise InputError(f"{where}: {file} {error}") from None
    known = ", ".join(found)
    if not law and len(found) > 1:
        raise InputError(
            f"{where}: {file} has several laws ({known}); say which, as in {name}={file}:{next(iter(found))}"
        )
    law = law or next(iter(found), "")
    if law not in found:
        raise InputError(f"{where}: {file} has no law {law!r}; it has: {known or 'none'}")
    source, parameters = found[law]
    return LibraryLaw(name, str(path), law, source, tuple(parameter for parameter, _ in parameters))


def _check_name(name: str) -> None:
    if not name or not all(c.isalnum() or c in "-_." for c in name):
        raise InputError(f'laws: "{name}" is no name for a law; use letters, digits, "-", "_" and "."')


def own_law(name: str, cls: Any) -> OwnLaw:
    """Inspect a class that is declared as a law.

    Parameters
    ----------
    name : str
        Name of the law in scenarios.
    cls : type

    Returns
    -------
    OwnLaw

    Raises
    ------
    InputError
        If the name is invalid, or if `cls` is not a class, has no hook method, shares data between flows, or has
        neither source nor ``version``.

    Examples
    --------
    >>> class Constant:
    ...     version = "1"
    ...     cwnd = 10.0
    ...
    ...     def on_loss(self, event):
    ...         pass
    >>> own_law("constant", Constant).on_loss
    True
    """
    where = f"law {name}"
    _check_name(name)
    if not isinstance(cls, type):
        raise InputError(f"{where}: must be a class, or the path of a shared library, not {cls!r}")
    has = {method: callable(getattr(cls, method, None)) for method in METHODS}
    if not (has["on_ack"] or has["on_loss"] or has["on_rtt_round"]):
        raise InputError(f"{where}: {cls.__name__} has none of on_ack, on_loss and on_rtt_round")
    _check_shared(where, cls)
    needs = getattr(cls, "needs", ())
    needs = (needs,) if isinstance(needs, str) else tuple(needs)
    for need in needs:
        if need not in NEEDS:
            raise InputError(f"{where}: {cls.__name__}.needs names {need!r}; it may name {' and '.join(NEEDS)}")
    if has["on_recovery_ack"] and "marks" not in needs:
        raise InputError(f'{where}: {cls.__name__} has on_recovery_ack, which is called only with needs = "marks"')
    takes, wants_flow = _parameters(cls)
    source, asked = _native.digest(hashed(cls, where)), {need: need in needs for need in NEEDS}
    return OwnLaw(name, cls, source, wants_flow, **has, **asked, parameters=takes)


def hashed(cls: type, where: str = "law") -> str:
    """Return the text that is hashed: the source of the class and of its base classes, and its ``version``.

    The text does not include functions, modules and constants outside of these classes. If one of them changes, the
    class needs a new ``version``. Parameters are not included either, because they are part of the scenario.

    Parameters
    ----------
    cls : type
    where : str
        Put in front of messages.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If there is neither source nor ``version``.
    """
    version = getattr(cls, "version", None)
    texts = []
    for each in cls.__mro__:
        if each.__module__ == "builtins":
            continue
        try:
            texts.append(textwrap.dedent(inspect.getsource(each)))
        except (OSError, TypeError):
            if version is None:
                raise InputError(
                    f"{where}: the source of {each.__name__} is not known, as it stands in no file; put it into one, "
                    'or give the class a version = "1", and another one whenever it changes'
                ) from None
            texts.append(f"class {each.__qualname__}\n")
    return "".join([f"version {version}\n", *texts])


def _parameters(cls: type) -> tuple[tuple[str, ...] | None, bool]:
    """Return the names that the constructor takes (None if it takes any), and whether it takes the flow."""
    if cls.__init__ is object.__init__:  # type: ignore[misc]
        return (), False
    found = inspect.signature(cls).parameters
    wants_flow = "flow" in found
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in found.values()):
        return None, wants_flow
    named = (word for word, parameter in found.items() if parameter.kind is not parameter.VAR_POSITIONAL)
    return tuple(word for word in named if word != "flow"), wants_flow


def _check_shared(where: str, cls: type) -> None:
    """Refuse mutable class attributes and changes of global variables.

    All flows would share such data, although each flow has its own instance.
    """
    for each in cls.__mro__:
        if each.__module__ == "builtins":
            continue
        for name, value in vars(each).items():
            if isinstance(value, _SHARED) and not name.startswith("__"):
                raise InputError(
                    f"{where}: {each.__name__}.{name} is one {type(value).__name__} for all flows; make it in __init__"
                )
            for function in _functions(value):
                if any(step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") for step in dis.get_instructions(function)):
                    said = "changes a global variable, which all flows share; keep it on self"
                    raise InputError(f"{where}: {each.__name__}.{name} {said}")


def _functions(value: object) -> list[FunctionType]:
    """Return the functions of a method or a property."""
    inner = (value.fget, value.fset) if isinstance(value, property) else (getattr(value, "__func__", value),)
    return [each for each in inner if inspect.isfunction(each)]


def load(text: str) -> AnyOwnLaw:
    """Load the law that ``--law`` names: ``NAME=FILE.py:CLASS``, ``NAME=FILE.so`` or ``NAME=FILE.so:LAW``.

    Parameters
    ----------
    text : str

    Returns
    -------
    OwnLaw or LibraryLaw

    Raises
    ------
    InputError
        If the text has another form, if the file or the class in it does not exist, or if running the file fails.
    """
    name, _, rest = text.partition("=")
    file, _, cls = rest.rpartition(":")
    if name and (rest.endswith(LIBRARY_SUFFIX) or file.endswith(LIBRARY_SUFFIX)):
        return _library_of(name, rest)
    if not name or not file or not cls.isidentifier():
        raise InputError(f'--law: must be NAME=FILE.py:CLASS or NAME=FILE.so, such as mine=mine.py:Mine, not "{text}"')
    path = Path(file)
    check_readable(file, "Python file with a class", f"--law {name}")
    # Each file is run only once, so two laws of one file share a module. The lock is needed because the module is in
    # `sys.modules` before the file has been run completely.
    with _loading:
        found = getattr(_module_of(name, path), cls, None)
    if not isinstance(found, type):
        raise InputError(f"--law {name}: {file} has no class {cls}")
    return own_law(name, found)


def _module_of(name: str, path: Path) -> ModuleType:
    """Return the module of a law's file, and run the file if it was not run before."""
    module_name = f"{_MODULE}{_native.digest(str(path.resolve()))[:16]}"
    known = sys.modules.get(module_name)
    if known is not None:
        return known
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"--law {name}: {path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[module_name]
        raise InputError(f"--law {name}: {path}{_line(error, path)}: {_said(error)}") from None
    return module


_declared: ContextVar[Mapping[str, AnyOwnLaw]] = ContextVar("elephan_own_laws", default=MappingProxyType({}))


def here() -> Mapping[str, AnyOwnLaw]:
    """Return the laws declared in the current context, by name."""
    return _declared.get()


@contextlib.contextmanager
def declared(laws: Mapping[str, LawSource] | None) -> Iterator[None]:
    """Declare laws for the scenarios that are read inside the block; each scenario keeps them.

    Parameters
    ----------
    laws : mapping of str to class or path, optional
        A path is that of a shared library, followed by ``:LAW`` if the library has several laws.

    Raises
    ------
    InputError
        If `laws` is not a mapping, or for the reasons of `own_law` and `library_law`.
    """
    before = _declared.set({**here(), **_inspected(laws)})
    try:
        yield
    finally:
        _declared.reset(before)


def declare(texts: Sequence[str]) -> None:
    """Declare the laws of ``--law`` options for the rest of this process; they replace all earlier declarations.

    Parameters
    ----------
    texts : sequence of str

    Raises
    ------
    InputError
        For the reasons of `load`, or if a name is given twice.
    """
    found: dict[str, AnyOwnLaw] = {}
    for text in texts:
        law = load(text)
        if law.name in found:
            raise InputError(f"--law {law.name}: is given twice")
        found[law.name] = law
    _declared.set(found)


def check_used(names: Iterable[str], used: Iterable[Iterable[str]], option: str = "laws") -> None:
    """Refuse a declared law that no scenario uses, because that is probably a mistake.

    Parameters
    ----------
    names : iterable of str
        Names of the declared laws.
    used : iterable of iterable of str
        For each scenario that is run, the names of its laws. Reading stops when all declared laws were found.
    option : str
        Name of the option or parameter, for the message.

    Raises
    ------
    InputError
        If one of the laws is not used.
    """
    unused = dict.fromkeys(names)
    for each in used:
        for name in each:
            unused.pop(name, None)
        if not unused:
            break
    for name in unused:
        raise InputError(f"{option} {name}: nothing uses it; set flows[0].control={name}, or leave it out")


def _inspected(laws: Mapping[str, LawSource] | None) -> dict[str, AnyOwnLaw]:
    given: object = laws
    if not isinstance(given, Mapping | None):
        raise InputError(f"laws: must be {{NAME: CLASS}}, not {laws!r}")
    return {name: _inspected_one(name, law) for name, law in (laws or {}).items()}


def _inspected_one(name: str, law: LawSource) -> AnyOwnLaw:
    if isinstance(law, OwnLaw | LibraryLaw):
        return law
    return _library_of(name, str(law)) if isinstance(law, str | Path) else own_law(name, law)


def _library_of(name: str, place: str) -> LibraryLaw:
    """Open the library that ``FILE.so`` or ``FILE.so:LAW`` names."""
    file, _, law = place.rpartition(":")
    return library_law(name, file, law) if file.endswith(LIBRARY_SUFFIX) else library_law(name, place)


def class_state(laws: Mapping[str, AnyOwnLaw]) -> dict[tuple[str, str], object]:
    """Return the attributes of the law classes, to detect changes during a run."""
    classes = [law for law in laws.values() if isinstance(law, OwnLaw)]
    return {(law.name, key): value for law in classes for key, value in vars(law.cls).items()}


def check_state(laws: Mapping[str, AnyOwnLaw], before: Mapping[tuple[str, str], object]) -> None:
    """Refuse a run in which a law has changed its class.

    Raises
    ------
    LawError
        If a class has changed. All flows share it, so results would depend on the order in which flows run.
    """
    after = class_state(laws)
    for name, key in sorted(before.keys() | after.keys()):
        if before.get((name, key)) is not after.get((name, key)):
            raise LawError(
                f"law {name}: {_title(laws[name])}.{key} was set on the class, which all flows share; keep it on self"
            )


def _title(law: AnyOwnLaw) -> str:
    """Return the name of a law in its source."""
    return law.cls.__name__ if isinstance(law, OwnLaw) else law.law


def failure(law: AnyOwnLaw, method: str, error: BaseException | None, reason: str | None) -> BaseException:
    """Return the error of a law, as one line.

    Parameters
    ----------
    law : OwnLaw or LibraryLaw
    method : str
        Name of the method that was called.
    error : exception, optional
        Exception that the method raised.
    reason : str, optional
        Why the window that the law set is invalid; for a library, the complete description of the error.

    Returns
    -------
    LawError
        Or `error` itself if it is not an `Exception` (such as `KeyboardInterrupt`).
    """
    if error is not None and not isinstance(error, Exception):
        return error
    if isinstance(law, LibraryLaw):
        return LawError(f"law {law.name}: {law.law}.{method} ({Path(law.file).name}): {reason}")
    cls = law.cls
    function = getattr(cls, method, None)
    code = getattr(function, "__code__", None)
    file = Path(code.co_filename) if code is not None else None
    if error is not None:
        line = _line(error, file) if file is not None else ""
        said = _said(error)
    else:
        line, said = (
            (f", line {code.co_firstlineno}" if code is not None else ""),
            f"left an invalid window: {reason}",
        )
    place = f" ({file.name}{line})" if file is not None else ""
    return LawError(f"law {law.name}: {cls.__name__}.{method}{place}: {said}")


def _line(error: BaseException, file: Path | None) -> str:
    """Return the number of the last line of a file in an exception's traceback, as text for a message."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    frames = reversed(traceback.extract_tb(error.__traceback__))
    line = next((frame.lineno for frame in frames if file is None or Path(frame.filename) == file), 0)
    return f", line {line}" if line else ""


def _said(error: BaseException) -> str:
    text = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def fill(mapping: dict[str, Any], laws: Mapping[str, AnyOwnLaw]) -> bool:
    """Insert the hashes of declared laws next to their names.

    Parameters
    ----------
    mapping : dict
        A scenario's file, which is changed.
    laws : mapping of str to OwnLaw or LibraryLaw

    Returns
    -------
    bool
        Whether anything changed.

    Raises
    ------
    InputError
        If a law does not have one of the parameters, or if a parameter of a library law is not a number.
    """
    groups = mapping.get("flows")
    changed = False
    for i, group in enumerate(groups if isinstance(groups, list) else []):
        control = group.get("control") if isinstance(group, dict) else None
        table = {"law": control} if isinstance(control, str) else control
        name = table.get("law") if isinstance(table, dict) else None
        law = laws.get(name) if isinstance(name, str) else None
        if law is None or table is None:
            continue
        for key in (key for key in table if key not in ("law", "source", "slow_start")):
            if law.parameters is not None and key not in law.parameters:
                known = ", ".join(law.parameters) or "none"
                raise InputError(f"flows[{i}].control.{key}: {_title(law)} has no such parameter; it has: {known}")
            if isinstance(law, LibraryLaw) and type(table[key]) not in (int, float):
                raise InputError(f"flows[{i}].control.{key}: must be a number, as {_title(law)} is from a library")
        if table.get("source") != law.source or isinstance(control, str):
            group["control"] = {**table, "source": law.source}
            changed = True
    return changed
