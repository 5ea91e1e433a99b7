"""One protocol for everything that holds results: tables, samples, pictures, data frames and arrays."""

from elephan.results.documents import (
    CompareDocument,
    ComparedQuantityDocument,
    FairnessDocument,
    GroupDocument,
    LinkDocument,
    MetricDocument,
    PrecisionDocument,
    PrecisionRow,
    Quantity,
    RunAbout,
    RunDocument,
    SweepDocument,
    SweepFailure,
    SweepPointDocument,
    TestbedDocument,
    TestbedRecord,
    TransfersDocument,
    WarningDocument,
)
from elephan.results.parts import FlowName, ResultPart, RunArrays
from elephan.results.protocol import ResultHolder, ResultTables
from elephan.results.tables import TABLES

__all__ = [
    "TABLES",
    "CompareDocument",
    "ComparedQuantityDocument",
    "FairnessDocument",
    "FlowName",
    "GroupDocument",
    "LinkDocument",
    "MetricDocument",
    "PrecisionDocument",
    "PrecisionRow",
    "Quantity",
    "ResultHolder",
    "ResultPart",
    "ResultTables",
    "RunAbout",
    "RunArrays",
    "RunDocument",
    "SweepDocument",
    "SweepFailure",
    "SweepPointDocument",
    "TestbedDocument",
    "TestbedRecord",
    "TransfersDocument",
    "WarningDocument",
]
