"""The reference of the tables that SQL queries of a store can use, from their schema."""

from elephan.store.described import described
from elephan_evidence.report.markdown import code, table


def reference() -> str:
    """Write a section for each table."""
    lines: list[str] = []
    for each in described():
        rows = [[code(column.name), column.unit, column.meaning] for column in each.columns]
        lines += [f"## `{each.name}`", "", f"{each.title[0].upper()}{each.title[1:]}.", ""]
        lines += table(["column", "unit", "meaning"], rows)
    return "\n".join(lines)
