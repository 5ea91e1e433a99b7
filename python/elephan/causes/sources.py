"""Runs to be explained: a scenario, a folder of a run, or a run in a store. A run must give the same results again."""

from __future__ import annotations

from pathlib import Path

from elephan.errors import InputError
from elephan.runs.saved import DOCUMENT, FolderRun, ReplicatedRun, SavedRun
from elephan.scenario import AUTO, Scenario
from elephan.store import Store
from elephan.store.errors import StoreError


def find(run: Scenario | ReplicatedRun | str | Path, store: str | Path | None = None) -> Scenario | ReplicatedRun:
    """Return the scenario or the run that a user has named.

    Parameters
    ----------
    run : Scenario, run, or path
        A scenario file, a folder that ``elephan run --out`` wrote, or the id of a run in a store.
    store : path, optional
        Folder of the store.

    Raises
    ------
    InputError
        If it is none of these.
    """
    if not isinstance(run, str | Path):
        return run
    path = Path(run)
    if store is not None and path.exists():
        raise InputError(f"--store {store}: holds runs by their ids; {path} is a file or folder")
    if path.is_dir():
        if not (path / DOCUMENT).is_file():
            message = f"{path}: has no {DOCUMENT}; give a folder that elephan run --out wrote, or a scenario file"
            raise InputError(message)
        found = SavedRun(path)
        if "testbed" in found.document:
            raise InputError(f"{path}: was measured on a testbed; only simulated runs can be run again")
        return found
    if path.exists() or path.suffix or len(path.parts) > 1:
        return Scenario.from_file(path)
    try:
        with Store(store, readonly=True) as opened:
            stored = opened.get(str(run))
            # Read these now, while the store is open.
            _ = stored.scenario, stored.outcomes
            return stored
    except StoreError as error:
        raise InputError(f"{run}: is neither a scenario file nor a folder of a run; {error}") from None


def check_scenario(scenario: Scenario, link: int, replication: int) -> None:
    """Refuse scenarios, links and replications that cannot be explained.

    Raises
    ------
    InputError
        With the reason.
    """
    where = scenario.origin
    fact = scenario.links[link]
    problem = ""
    if scenario.warmup_rule == AUTO:
        problem = 'warmup: "auto" is determined by elephan run --out; give its folder, or a time'
    elif scenario.own_laws:
        law = sorted(scenario.own_laws)[0]
        problem = f"law {law}: is not one of elephan's; its state cannot be copied, which a fork needs"
    elif fact["count"] > 1:
        problem = f"link {fact['name']}: is an array of {fact['count']}; only single links can be explained"
    elif fact["pool"] is not None:
        problem = f"link {fact['name']}: shares memory; only links with a buffer of their own can be explained"
    elif fact["discipline"] == "xcp":
        problem = f"link {fact['name']}: XCP sets windows without drops, so that no drop explains idle time"
    elif not 1 <= replication <= scenario.replications:
        problem = f"replication {replication}: there are {scenario.replications}, numbered from 1"
    if problem:
        raise InputError(f"{where}: {problem}")


def check_same(run: ReplicatedRun, link: int, replication: int, counted: tuple[int, int]) -> None:
    """Check that the new run equals the saved one: the link must have the same number of arrivals and drops.

    Parameters
    ----------
    counted : tuple of int
        Arrivals and drops of the new run.

    Raises
    ------
    InputError
        If a number differs, for example because another version of elephan wrote the saved run.
    """
    columns = run.outcomes[replication - 1].links
    dropped = sum(int(columns[name][link]) for name in columns if name.startswith("drops_"))
    saved = int(columns["arrived"][link]), dropped
    if saved != counted:
        whose = f"{run.folder}: " if isinstance(run, FolderRun) else ""
        raise InputError(
            f"{whose}run again, the link has {counted[0]} arrivals and {counted[1]} drops, not {saved[0]} and "
            f"{saved[1]}: another version wrote it; run the scenario again"
        )
