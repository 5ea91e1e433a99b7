"""Measurements that others made, and the errors of elephan in each of their cells: the verb ``elephan judge``."""

from elephan_evidence.judge.dataset import DataSet, sets
from elephan_evidence.judge.judgement import JudgedSet, Judgement, judge

__all__ = ["DataSet", "JudgedSet", "Judgement", "judge", "sets"]
