"""One protocol for everything that holds results: tables, samples, pictures, data frames and arrays."""

from elephan.results.parts import FlowName, ResultPart, RunArrays
from elephan.results.protocol import ResultHolder, ResultTables
from elephan.results.tables import TABLES

__all__ = ["TABLES", "FlowName", "ResultHolder", "ResultPart", "ResultTables", "RunArrays"]
