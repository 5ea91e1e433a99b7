"""How far off the analytic models are: a survey by simulation, the models' errors in it, and where each is good."""

from elephan.accuracy.lookup import LEVELS, Nearby, largest_error, level, nearby
from elephan.accuracy.regions import Region, regions

__all__ = ["LEVELS", "Nearby", "Region", "largest_error", "level", "nearby", "regions"]
