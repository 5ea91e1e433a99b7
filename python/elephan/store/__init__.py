"""Stores: runs on disk, which can be found by their request, by labels and with SQL."""

from elephan.store.errors import DamageError, StoreError
from elephan.store.folders import PackedRun, pack
from elephan.store.keys import key
from elephan.store.store import Store
from elephan.store.stored import StoredRun
from elephan.store.table import StoreTable
from elephan.store.upkeep import DamageReport, MergeSummary, Removed

__all__ = [
    "DamageError",
    "DamageReport",
    "MergeSummary",
    "PackedRun",
    "Removed",
    "Store",
    "StoreError",
    "StoreTable",
    "StoredRun",
    "key",
    "pack",
]
