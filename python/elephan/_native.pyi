"""The native half of elephan: text and numbers in, JSON and NumPy columns out."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Bottleneck",
    "HeldLaw",
    "LawEvaluator",
    "RunMonitor",
    "catalog",
    "describe",
    "digest",
    "json_lines",
    "kernel_built",
    "kernel_check",
    "kernel_counters",
    "kernel_laws",
    "kernel_load",
    "kernel_unload",
    "law_rounds",
    "memory_floor",
    "memory_sizes",
    "needs_met",
    "parquet_file",
    "queue_curve",
    "queue_draws",
    "rate_bps",
    "replay_law",
    "replay_queue",
    "resolve",
    "scenario_id",
    "schema",
    "seconds",
    "simulate",
    "simulate_several",
    "size_bytes",
    "unwinds",
    "version",
    "write_folder",
]

class _Outcome(TypedDict):
    links: dict[str, NDArray[Any]]
    flows: dict[str, NDArray[Any]]
    balance: dict[str, int]
    hash: int
    histograms: dict[str, list[NDArray[np.uint64]]]
    packets: list[dict[str, Any]]
    transfers: list[dict[str, Any] | None]
    traces: list[dict[str, Any]]
    samples: dict[str, NDArray[Any]]
    queue_gauges: list[dict[str, NDArray[np.float64]]]

def version() -> str: ...
def unwinds() -> bool: ...
def resolve(text: str) -> tuple[str, str, str]: ...
def scenario_id(canonical: str) -> str: ...
def describe(canonical: str) -> str: ...
def needs_met(canonical: str) -> str: ...
def digest(text: str) -> str: ...
def schema() -> str: ...
def parquet_file(
    columns: Sequence[tuple[str, NDArray[Any] | Sequence[str | None]]], metadata: Sequence[tuple[str, str]]
) -> bytes: ...
def json_lines(parts: dict[str, Any]) -> bytes: ...
def write_folder(folder: str, files: Sequence[tuple[str, bytes]]) -> None: ...
def seconds(text: str) -> float: ...
def rate_bps(text: str) -> int: ...
def size_bytes(text: str) -> int: ...
def catalog(kind: str) -> str: ...
def simulate(
    canonical: str,
    replication: int,
    *,
    engine: str = "window",
    series: bool = False,
    hash: bool = False,
    monitor: RunMonitor | None = None,
    threads: int = 1,
) -> _Outcome: ...
def simulate_several(
    jobs: Sequence[tuple[str, int]], *, series: bool = False, monitor: RunMonitor | None = None
) -> list[tuple[dict[str, Any] | None, str | None, float]]: ...

@final
class RunMonitor:
    def __new__(cls) -> RunMonitor: ...
    def stop(self) -> None: ...
    def allow_threads(self, threads: int) -> None: ...
    @property
    def share(self) -> float: ...

def memory_sizes() -> list[tuple[str, int]]: ...
def memory_floor(packets: int, in_flight: int, flows: int) -> int: ...
def law_rounds(
    control: str,
    *,
    base_rtt_s: float,
    bdp: float,
    losses: list[int],
    timeouts: list[int],
    count: int,
    initial_window: float = 2.0,
) -> NDArray[np.float64]: ...
def replay_law(control: str, events: NDArray[np.float64], *, initial_window: float = 2.0) -> NDArray[np.float64]: ...

@final
class LawEvaluator:
    def __new__(cls, control: str) -> LawEvaluator: ...
    @property
    def remembers(self) -> bool: ...
    def growth(
        self, windows: NDArray[np.float64], rtts: NDArray[np.float64], bases: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...
    def cut(
        self, windows: NDArray[np.float64], rtts: NDArray[np.float64], bases: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...
    def period(
        self, windows: NDArray[np.float64], rtts: NDArray[np.float64], bases: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...
    def sawteeth(
        self, rate: float, buffers: Sequence[float], rtts: Sequence[float], cut: int, overflows: tuple[int, int]
    ) -> NDArray[np.float64]: ...

def replay_queue(
    queue: str,
    arrivals: NDArray[np.int64],
    *,
    rate_bps: int,
    packet_bytes: float,
    buffer_packets: int | None = None,
    buffer_bytes: int | None = None,
    seed: int = 1,
    headers: NDArray[np.float64] | None = None,
) -> dict[str, Any]: ...
def queue_draws(seed: int, count: int) -> NDArray[np.uint64]: ...
def queue_curve(
    queue: str,
    averages: NDArray[np.float64],
    *,
    rate_bps: int,
    packet_bytes: float,
    buffer_packets: int | None = None,
) -> NDArray[np.float64]: ...
def kernel_built() -> bool: ...
def kernel_check() -> None: ...
def kernel_load(control: str) -> None: ...
def kernel_unload(name: str) -> None: ...
def kernel_laws() -> list[tuple[str, str, bool, bool]]: ...
def kernel_counters(name: str) -> dict[str, int]: ...

@final
class HeldLaw:
    def __new__(cls, control: str) -> HeldLaw: ...
    def counters(self) -> dict[str, int] | None: ...
    def release(self) -> None: ...

@final
class Bottleneck:
    def __new__(
        cls,
        canonical: str,
        replication: int,
        *,
        client: tuple[PathLike[str], str],
        server: tuple[PathLike[str], str],
    ) -> Bottleneck: ...
    def run(
        self,
        *,
        warmup_s: float,
        measured_s: float,
        longest_s: float,
        every_s: float,
        wires_s: Sequence[tuple[float, float]],
        first_port: int,
        quantum_s: float,
        priority: int,
        limit_s: float,
        shaken_s: float,
        awake: bool,
    ) -> dict[str, Any]: ...
    def stop(self) -> None: ...
