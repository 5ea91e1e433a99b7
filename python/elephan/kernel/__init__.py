"""elephan's laws in the running Linux kernel: load, list, count and unload them. Needs root, and Linux 6.4 or newer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elephan import _native, object_files
from elephan.errors import InputError

__all__ = ["KernelCounters", "KernelLaw", "counters", "laws", "load", "unload"]


OBJECT_ENDING = ".o"
"""Suffix of the names of compiled objects."""


@dataclass(frozen=True)
class KernelLaw:
    """A law that can be loaded into the kernel.

    Parameters
    ----------
    name : str
        Name in scenarios.
    called : str
        Name in the kernel, as ``iperf3 -C`` and ``setsockopt(TCP_CONGESTION)`` take it.
    offered : bool
        Whether sockets can choose the law now.
    kept : bool
        Whether `load` loaded it.
    """

    name: str
    called: str
    offered: bool
    kept: bool


@dataclass(frozen=True)
class KernelCounters:
    """Counters of a law's sockets since the law was loaded.

    Parameters
    ----------
    connections, losses, timeouts : int
        Connections opened, losses (timeouts included), and timeouts.
    tests, rising : int
        gHSTCP's tests of round-trip times, and the tests that found them rising.
    strays : int
        Thresholds (`ssthresh`) above twice the highest window: the kernel did not call the law.
    """

    connections: int
    losses: int
    timeouts: int
    tests: int
    rising: int
    strays: int


def laws() -> list[KernelLaw]:
    """List the laws that can be loaded into the kernel.

    Returns
    -------
    list of KernelLaw

    Raises
    ------
    InputError
        If this elephan was built without kernel laws.
    """
    return [KernelLaw(*row) for row in _native.kernel_laws()]


def load(law: str, **parameters: Any) -> KernelLaw:
    """Load a law into the kernel; it stays until `unload` or the next start of the machine.

    Parameters
    ----------
    law : str
        A law of elephan's, or the file of an object (``mine.bpf.o``), of which the first congestion control is loaded,
        or the one named by the parameter ``name``.
    **parameters
        Parameters of the law, as ``elephan list laws`` names them.

    Returns
    -------
    KernelLaw

    Raises
    ------
    InputError
        If there is no such law, file or parameter, or this machine cannot load it; the message says how to fix it.
    """
    held: dict[str, Any] = {"law": law}
    if law.endswith(OBJECT_ENDING):
        held = {"law": "bpf", "object": object_files.read(Path(law))}
    # Strings, numbers and booleans are written alike in JSON and TOML.
    arguments = ", ".join(f"{name} = {json.dumps(value)}" for name, value in (held | parameters).items())
    control = f"{{ {arguments} }}"
    called = _native.kernel_name(control)
    _native.kernel_load(control)
    return next(one for one in laws() if one.called == called)


def unload(law: str) -> None:
    """Unload a law: new sockets cannot choose it, sockets that use it keep it.

    Parameters
    ----------
    law : str

    Raises
    ------
    InputError
        If the law was not loaded by `load`.
    """
    _native.kernel_unload(law)


def counters(law: str) -> KernelCounters:
    """Read the counters of a law's sockets since the law was loaded.

    Parameters
    ----------
    law : str

    Returns
    -------
    KernelCounters

    Raises
    ------
    InputError
        If the law was not loaded by `load`, or lacks the counters of elephan's laws.
    """
    counted = _native.kernel_counters(law)
    if counted is None:
        raise InputError(f"{law}: does not count what its sockets do, as elephan's own laws do")
    return KernelCounters(**counted)
