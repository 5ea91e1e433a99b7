"""Answers to questions that people ask, each an experiment as data: ``elephan answer``."""

from elephan_evidence.answers.answer import Answer, answers, find
from elephan_evidence.answers.asking import ask, longer, shortened
from elephan_evidence.answers.record import STAYS, Record

__all__ = ["STAYS", "Answer", "Record", "answers", "ask", "find", "longer", "shortened"]
