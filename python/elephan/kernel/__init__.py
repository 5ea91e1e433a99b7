"""The laws in the running Linux kernel: loaded, listed, counted, taken out. Needs root, and Linux 6.4 or newer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elephan import _native, object_files
from elephan.errors import InputError

__all__ = ["KernelCounters", "KernelLaw", "counters", "laws", "load", "unload"]


OBJECT_ENDING = ".o"
"""How names of compiled objects end."""


@dataclass(frozen=True)
class KernelLaw:
    """A law that the kernel can have.

    Parameters
    ----------
    name : str
        In scenarios.
    called : str
        In the kernel: what ``iperf3 -C`` and ``setsockopt(TCP_CONGESTION)`` take.
    offered : bool
        Whether sockets can choose it now.
    kept : bool
        Whether `load` put it there.
    """

    name: str
    called: str
    offered: bool
    kept: bool


@dataclass(frozen=True)
class KernelCounters:
    """What the sockets of a law have done since it was loaded.

    Parameters
    ----------
    connections, losses, timeouts : int
        Losses with the timeouts.
    tests, rising : int
        gHSTCP's tests of round-trip times, and those that found them rising.
    strays : int
        Thresholds (`ssthresh`) beyond twice the highest window: the kernel had passed over the law.
    """

    connections: int
    losses: int
    timeouts: int
    tests: int
    rising: int
    strays: int


def laws() -> list[KernelLaw]:
    """List the laws that the kernel can have.

    Returns
    -------
    list of KernelLaw

    Raises
    ------
    InputError
        If this elephan was built without them.
    """
    return [KernelLaw(*row) for row in _native.kernel_laws()]


def load(law: str, **parameters: Any) -> KernelLaw:
    """Put a law into the kernel; it stays until `unload`, or until the machine is started again.

    Parameters
    ----------
    law : str
        A law of elephan's, or the file of an object (``mine.bpf.o``), whose first congestion control it is, or the one
        that the parameter ``name`` says.
    **parameters
        As ``elephan list laws`` has them.

    Returns
    -------
    KernelLaw

    Raises
    ------
    InputError
        If there is no such law, file or parameter, or this machine cannot load it: what would mend that.
    """
    held: dict[str, Any] = {"law": law}
    if law.endswith(OBJECT_ENDING):
        held = {"law": "bpf", "object": object_files.read(Path(law))}
    # Texts, numbers and truth values are the same in JSON and TOML.
    arguments = ", ".join(f"{name} = {json.dumps(value)}" for name, value in (held | parameters).items())
    control = f"{{ {arguments} }}"
    called = _native.kernel_name(control)
    _native.kernel_load(control)
    return next(one for one in laws() if one.called == called)


def unload(law: str) -> None:
    """Take a law out: new sockets cannot choose it, those that have it keep it.

    Parameters
    ----------
    law : str

    Raises
    ------
    InputError
        If `load` has not put it there.
    """
    _native.kernel_unload(law)


def counters(law: str) -> KernelCounters:
    """Say what the sockets of a law have done since it was loaded.

    Parameters
    ----------
    law : str

    Returns
    -------
    KernelCounters

    Raises
    ------
    InputError
        If `load` has not put it there, or it does not count as elephan's laws do.
    """
    counted = _native.kernel_counters(law)
    if counted is None:
        message = f"{law}: does not count what its sockets do, as elephan's own laws do"
        raise InputError(message)
    return KernelCounters(**counted)
