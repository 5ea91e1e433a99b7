"""Stores as bytes, to compare them."""

from pathlib import Path

from elephan.store import Store


def table(folder: Path) -> bytes:
    """What a store answers, as bytes."""
    with Store(folder) as store:
        return store.export()


def files(folder: Path) -> dict[str, bytes]:
    """What the runs in a store consist of, but for what tells when and where."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / "runs").rglob("*"))
        if path.is_file() and path.name != "run.json"
    }
