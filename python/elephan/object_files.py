"""Congestion controls compiled for the Linux kernel, as named by ``control = { law = "bpf", object = "mine.bpf.o" }``.

The bytes of the file replace its name in the scenario, as a data URL. The scenario is then complete without the file,
and its id depends on the bytes.

*Source*: RFC 2397 (data URLs), RFC 4648 Section 4 (base64).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from elephan.errors import InputError, ScenarioError
from elephan.input_files import read_bytes

SHIPPED = "shipped"
"""Name of the object that is part of elephan."""

_MOST_BYTES = 2**20
KEY = "object"
"""Key that names a file."""

_WHAT = "congestion control compiled for the kernel (.bpf.o)"


def fill(mapping: dict[str, Any], folder: Path) -> bool:
    """Insert the bytes of the objects that a scenario names, as data URLs.

    Parameters
    ----------
    mapping : dict
        A scenario's file, which is changed.
    folder : Path
        Folder for relative names of files.

    Returns
    -------
    bool
        Whether anything changed.

    Raises
    ------
    ScenarioError
        If a file cannot be read or is too large; the message names the place and the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> fill({"title": "no object"}, Path())
    False
    """
    groups: Any = mapping.get("flows")
    named = [
        (i, group["control"])
        for i, group in enumerate(groups if isinstance(groups, list) else [])
        if isinstance(group, dict) and names_file(group.get("control"))
    ]
    for i, control in named:
        try:
            control[KEY] = read(folder / control[KEY])
        except InputError as error:
            raise ScenarioError(f"flows[{i}].control.{KEY}: {error}") from None
    return bool(named)


def names_file(control: object) -> bool:
    """Whether a control names an object file.

    Examples
    --------
    >>> names_file({"law": "bpf", "object": "mine.bpf.o"}), names_file({"law": "bpf", "object": "shipped"})
    (True, False)
    """
    name = control.get(KEY) if isinstance(control, dict) else None
    return isinstance(name, str) and bool(name) and name != SHIPPED and not name.startswith("data:")


def read(path: Path) -> str:
    """Read an object and return it in the notation of scenario files.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str
        A data URL, which includes the file's name for messages.

    Raises
    ------
    InputError
        If the file cannot be read, or is larger than 1 MiB.
    """
    import base64  # noqa: PLC0415 (needed by few, and start-up time is counted)
    from urllib.parse import quote  # noqa: PLC0415 (as above)

    advice = "strip it (llvm-strip -g), which keeps its BTF"
    held = base64.b64encode(read_bytes(path, _WHAT, _MOST_BYTES, advice)).decode("ascii")
    return f"data:;name={quote(path.name, safe='')};base64,{held}"
