"""Errors of the analytic models: a survey by simulation, the models' errors in it, and the regions of good accuracy."""

from typing import TYPE_CHECKING

from elephan.accuracy.lookup import LEVELS, NearbyErrors, largest_error, level, nearby
from elephan.accuracy.regions import ErrorRegion, regions
from elephan.renamed import renamed_attributes

__all__ = ["LEVELS", "ErrorRegion", "NearbyErrors", "largest_error", "level", "nearby", "regions"]

if not TYPE_CHECKING:  # or any name would pass a type checker
    __getattr__ = renamed_attributes(__name__, {"Nearby": "NearbyErrors", "Region": "ErrorRegion"})
