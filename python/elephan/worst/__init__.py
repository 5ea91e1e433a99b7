"""Worst cases: what is unknown of a scenario varies within ranges, and a search looks for the case that is worst.

Nothing here is a proof. Beside each worst case found stand random cases, the share of cases that they leave unseen, and
an extreme-value estimate from them.
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
