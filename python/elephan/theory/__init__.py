"""Analytic models: what theory says before, and beside, a simulation. They never look at one."""

from elephan.theory.laws import RESPONSES, aimd, highspeed, nr_hstcp, reno, response
from elephan.theory.response import Response

__all__ = ["RESPONSES", "Response", "aimd", "highspeed", "nr_hstcp", "reno", "response"]
