"""Runs that are kept: found again by what was asked, by labels and by SQL."""

from elephan.store.errors import DamageError, StoreError
from elephan.store.folders import Packed, pack
from elephan.store.keys import key
from elephan.store.store import Store
from elephan.store.stored import Stored
from elephan.store.table import Table
from elephan.store.upkeep import Freed, Merged, Problem

__all__ = [
    "DamageError",
    "Freed",
    "Merged",
    "Packed",
    "Problem",
    "Store",
    "StoreError",
    "Stored",
    "Table",
    "key",
    "pack",
]
