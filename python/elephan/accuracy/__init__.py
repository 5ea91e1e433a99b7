"""Errors of the analytic models: a survey by simulation, the models' errors in it, and the regions of good accuracy."""

from elephan.accuracy.lookup import LEVELS, NearbyErrors, largest_error, level, nearby
from elephan.accuracy.regions import ErrorRegion, regions

__all__ = ["LEVELS", "ErrorRegion", "NearbyErrors", "largest_error", "level", "nearby", "regions"]
