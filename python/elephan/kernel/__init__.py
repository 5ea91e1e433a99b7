"""The laws in the running Linux kernel: loaded, listed, counted, taken out. Needs root, and Linux 6.4 or newer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from elephan import _native

__all__ = ["KernelCounters", "KernelLaw", "counters", "laws", "load", "unload"]


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
    **parameters
        As ``elephan list laws`` has them.

    Returns
    -------
    KernelLaw

    Raises
    ------
    InputError
        If there is no such law or parameter, or this machine cannot load it: what would mend that.
    """
    # Texts, numbers and truth values are the same in JSON and TOML.
    arguments = ", ".join(f"{name} = {json.dumps(value)}" for name, value in {"law": law, **parameters}.items())
    _native.kernel_load(f"{{ {arguments} }}")
    return next(one for one in laws() if law in {one.name, one.called})


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
        If `load` has not put it there.
    """
    return KernelCounters(**_native.kernel_counters(law))
