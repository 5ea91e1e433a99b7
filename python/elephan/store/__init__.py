"""Runs that are kept: found again by what was asked, by labels and by SQL."""

from elephan.store.errors import DamageError, StoreError
from elephan.store.keys import key
from elephan.store.store import Store
from elephan.store.stored import Stored
from elephan.store.table import Table

__all__ = ["DamageError", "Store", "StoreError", "Stored", "Table", "key"]
