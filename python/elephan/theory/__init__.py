"""Analytic models, a file for each: they take numbers and functions, and never look at a simulation."""
