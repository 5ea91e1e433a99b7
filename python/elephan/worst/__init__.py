"""Worst cases: unknown values of a scenario vary within ranges, and a search looks for the worst case.

A search is not a proof. Each worst case is therefore reported together with random cases, an upper limit of the share
of cases that are worse than all of these, and an extreme-value estimate.
"""

from elephan.worst.laws import LawAttack, attack
from elephan.worst.search import Attack, FoundCase, Harm, SearchState, WorstSearch
from elephan.worst.sizing import WorstSizing, size_worst
from elephan.worst.unknowns import Unknown, Unknowns, read_unknowns, usual_unknowns

__all__ = [
    "Attack",
    "FoundCase",
    "Harm",
    "LawAttack",
    "SearchState",
    "Unknown",
    "Unknowns",
    "WorstSearch",
    "WorstSizing",
    "attack",
    "read_unknowns",
    "size_worst",
    "usual_unknowns",
]
