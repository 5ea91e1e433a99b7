"""One description of a result on its page, in notebooks and on the terminal: the same numbers in each."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import elephan
from elephan.cli.page_screen import page_lines
from elephan.cli.tables import whole_table
from elephan.comparisons import compare
from elephan.display import page as shown
from elephan.pictures.table import Cell, Column, Table, cell, fact_column, sentence_cell, tabulated
from elephan.reports import comparison, limit, model_sim_testbed, run, size, sweep
from elephan.reports.notebook import described
from elephan.reports.notebook import html as in_notebook
from elephan.reports.page import PageSection, ReportPage, TerminalCommand
from elephan.theory.models import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KINDS = ["run", "sweep", "compare", "size", "size --laws", "size --find", "model"]

SMALL = elephan.Scenario.from_text(elephan.EXAMPLE).replace({"replications": 2})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, ReportPage]]:
    """A result of each kind, and its page without pictures."""
    result = elephan.run(SMALL, metrics=["jain"])
    over = {"links[0].buffer": ["10 packets", "20 packets"]}
    swept = elephan.sweep(SMALL, over=over, store=tmp_path_factory.mktemp("store"), metrics=["loss_synchronization"])
    compared = compare(SMALL.replace({"record": {"every": "50 ms"}}), real=False)
    table = MODELS["sawtooth"].table({"buffer": "10..100:5"})
    return {
        "run": (result, run.content(result.to_json(), result.scenario)),
        "sweep": (swept, sweep.content(swept.to_json(), SMALL)),
        "compare": (compared, model_sim_testbed.content(compared.to_json(), compared.scenario)),
        **{kind: (found, described(found)) for kind, found in sizings().items()},
        "model": (table, described(table)),
    }


def sizings() -> dict[str, Any]:
    asked: dict[str, Any] = {"target": "utilization=0.8", "replications": 2, "precision": 0.5}
    return {
        "size": elephan.size(SMALL, **asked, pacing="both"),
        "size --laws": elephan.size_variants(SMALL, ["reno", "cubic"], ["drop-tail", "codel"], **asked),
        "size --find": elephan.size_limit(SMALL, find="rtt", **asked),
    }


def visible(text: str) -> str:
    """Return the words of HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def cells(page: ReportPage) -> list[Cell]:
    return [cell for part in page.parts for table in part.tables for row in table.rows for cell in row]


@pytest.mark.parametrize("kind", KINDS)
def test_a_terminal_of_any_width_shows_every_cell_of_a_page(
    monkeypatch: pytest.MonkeyPatch, made: dict[str, tuple[Any, ReportPage]], kind: str
) -> None:
    _, page = made[kind]
    for width in (40, 60, 80, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = page_lines(page)
        assert max(len(line) for line in lines if line.strip().count(" ")) <= width
        text = "\n".join(lines)
        assert not re.search("[\N{NO-BREAK SPACE}\N{MINUS SIGN}\N{EN DASH}]", text)
        for each in cells(page):
            if each.is_number:
                plain = each.text.replace(" \N{PLUS-MINUS SIGN} ", "\N{PLUS-MINUS SIGN}").replace("\N{MINUS SIGN}", "-")
                assert plain.replace("\N{NO-BREAK SPACE}", " ") in text


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_the_main_columns_of_a_page(made: dict[str, tuple[Any, ReportPage]], kind: str) -> None:
    result, page = made[kind]
    text = shown(result)
    assert text == result._repr_html_()
    words = visible(text)
    assert page.headline.replace("\N{NO-BREAK SPACE}", " ") in words
    for table in (table for part in page.parts for table in part.tables):
        for i, head in enumerate(table.heads):
            assert (f">{html.escape(head)}</th>" in text) >= (i in table.mains)
    assert "elephan that" not in words
    assert ("<details>" in text) is any(part.folded for part in page.parts)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "model"])
def test_a_page_with_pictures_has_the_same_tables(
    made: dict[str, tuple[Any, ReportPage]], tmp_path: Path, kind: str
) -> None:
    result, page = made[kind]
    folder = tmp_path / kind
    result.write(folder)
    pages: dict[str, Callable[[Path], ReportPage]] = {
        "run": run.page,
        "sweep": sweep.page,
        "compare": model_sim_testbed.page,
        "size": size.page,
        "size --laws": comparison.page,
        "size --find": limit.page,
    }
    whole = pages[kind](folder)
    assert [part for part in whole.parts if part.tables] == [part for part in page.parts if part.tables]
    assert (whole.sentence, whole.notes, whole.commands) == (page.sentence, page.notes, page.commands)


def test_metrics_that_a_sweep_asks_for_are_columns_of_its_points(made: dict[str, tuple[Any, ReportPage]]) -> None:
    _, page = made["sweep"]
    (points,) = page.parts[-1].tables
    assert "core: loss_synchronization" in points.heads
    assert points.names == 1


def test_parts_that_only_pages_have_are_folded_or_left_out_of_notebooks() -> None:
    columns = fact_column("name", "name"), Column("detail", lambda row: cell(row["detail"]), main=False)
    rows = [{"name": "a", "detail": "<b>"}]
    table = tabulated("Parts", columns, rows, "A note.")
    minor = Table("Minor", ("name",), ((cell("x"),),), main=(False,))
    parts = PageSection("Open", ("Lead.",), tables=(table, minor)), PageSection("Closed", tables=(table,), folded=True)
    commands = (TerminalCommand("tc qdisc", "On Linux."),)
    page = ReportPage("Run", "T", ("Why?",), "5", "Five.", notes=("Six.",), commands=commands, parts=parts)
    text = in_notebook(page)
    assert "detail" not in visible(text)
    assert "Minor" not in text
    assert "<details><summary>Closed</summary>" in text
    assert "On Linux: tc qdisc" in visible(text)
    lines = page_lines(page)
    assert "Why?" not in lines
    assert lines[:4] == ["T", "", "Five.", "  > Six."]
    assert lines.count("name  detail") == 2
    assert lines[-2:] == ["On Linux:", "  tc qdisc"]


def test_a_table_without_room_repeats_the_columns_that_name_a_row() -> None:
    heads = ["links[0].buffer", "count", "core: utilization [%]", "core: loss [%]", "core: delay [ms]"]
    rows = [[f"{i} packets", str(i), f"9{i}.123±0.004", f"0.{i}±0.1", f"{i}.5 (0 to 9)"] for i in range(1, 6)]
    lines = whole_table(heads, rows, [False, True, True, True, True], 46, names=2)
    assert max(map(len, lines)) <= 46
    assert sum(re.match(r"3 packets +3 ", line) is not None for line in lines) == 2
    assert all(each in "\n".join(lines) for row in rows for each in row)


def test_a_terminal_lists_each_sentence_of_a_table_once_with_the_rows_that_it_is_about() -> None:
    columns = fact_column("rule", "rule"), Column("assumptions", lambda row: sentence_cell(row["says"]))
    rows = [
        {"rule": "a", "says": ["many flows"]},
        {"rule": "b", "says": ["many flows", "reno"]},
        {"rule": "c", "says": []},
    ]
    page = ReportPage("Size", "T", ("Why?",), "5", "Five.", notes=("No.", "Or."), is_asked=True, dangers=1)
    page = replace(page, parts=(PageSection("Rules", tables=(tabulated("Rules", columns, rows),)),))
    lines = page_lines(page)
    assert lines[:6] == ["T", "Why?", "", "Five.", "  ! No.", "  > Or."]
    assert lines[-3:] == ["Assumptions:", "  a, b: many flows", "  b: reno"]
    assert "many flows; reno" in visible(in_notebook(page))
