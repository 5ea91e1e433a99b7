"""Stores as bytes, to compare them."""

from pathlib import Path

from elephan.store import Store


def table(folder: Path) -> bytes:
    """Return a store's exported table, as bytes."""
    with Store(folder) as store:
        return store.export()


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of the runs in a store, except those with times and places."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / "runs").rglob("*"))
        if path.is_file() and path.name != "run.json"
    }
