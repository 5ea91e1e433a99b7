"""Analytic models: predictions from theory, for comparison with simulations. They never use results of simulations."""

from elephan.theory.fixed_points import FixedPoint, RedThresholds, droptail, red
from elephan.theory.laws import aimd, highspeed, nr_hstcp, reno, response
from elephan.theory.response import Response
from elephan.theory.sawtooth import Sawtooth, partial, recovery_time, synchronised
from elephan.theory.textbook import RESPONSES, published

__all__ = [
    "RESPONSES",
    "FixedPoint",
    "RedThresholds",
    "Response",
    "Sawtooth",
    "aimd",
    "droptail",
    "highspeed",
    "nr_hstcp",
    "partial",
    "published",
    "recovery_time",
    "red",
    "reno",
    "response",
    "synchronised",
]
