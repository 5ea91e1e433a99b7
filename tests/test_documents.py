"""The types of JSON documents are complete: real documents have exactly their keys, with values of their types."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

import elephan
from elephan.causes.documents import IdleDocument
from elephan.results import (
    CompareDocument,
    ModelDocument,
    RunDocument,
    RunFileDocument,
    SweepDocument,
    SweepFailure,
    documents,
)
from elephan.runs.saved import read_document
from elephan.sizing.documents import LimitDocument, SizeDocument, VariantsDocument
from elephan.theory.models import MODELS
from elephan.worst import attack, size_worst
from elephan.worst.documents import AttackDocument, WorstDocument
from test_site_reference import documents as examples

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SMALL = elephan.Scenario.from_text(elephan.EXAMPLE)


def faults(value: Any, kind: Any, path: str) -> Iterator[str]:
    """List the violations of a type, by their places."""
    if is_typeddict(kind) and not isinstance(value, dict):
        yield f"{path}: {value!r} is no {kind.__name__}"
    elif is_typeddict(kind):
        hints = get_type_hints(kind)
        yield from (f"{path}.{key}: missing" for key in kind.__required_keys__ - value.keys())
        yield from (f"{path}.{key}: not in the type" for key in value.keys() - hints.keys())
        for key in value.keys() & hints.keys():
            yield from faults(value[key], hints[key], f"{path}.{key}")
    elif get_origin(kind) in (list, dict) and not isinstance(value, get_origin(kind)):
        yield f"{path}: {value!r} is no {kind}"
    elif get_origin(kind) is list:
        for one in value:
            yield from faults(one, get_args(kind)[0], f"{path}[]")
    elif get_origin(kind) is dict:
        for one in value.values():
            yield from faults(one, get_args(kind)[1], f"{path}.*")
    elif get_origin(kind) in (Union, types.UnionType):
        if not any(not list(faults(value, each, path)) for each in get_args(kind)):
            yield f"{path}: {value!r} is no {kind}"
    # A whole number stands for a float in JSON, and a truth value for no number.
    elif kind is not Any and (
        not isinstance(value, (int, float) if kind is float else kind) or isinstance(value, bool) > (kind is bool)
    ):
        yield f"{path}: {value!r} is no {kind}"


@pytest.mark.parametrize(
    ("verb", "kind"),
    [
        ("elephan run", RunDocument),
        ("elephan testbed run", documents.TestbedDocument),
        ("elephan size", SizeDocument),
        ("elephan size --laws … --queues …", VariantsDocument),
        ("elephan size --find …", LimitDocument),
    ],
)
def test_documents_are_of_their_types(verb: str, kind: Any) -> None:
    held = examples(verb)
    assert held
    for document in held:
        assert list(faults(document, kind, "")) == []


class Late:
    """A law that fails at its first loss."""

    cwnd = 90.0

    def on_loss(self, event: object) -> None:
        raise ValueError(event)


def test_documents_of_sweeps_and_comparisons_are_of_their_types(tmp_path: Any) -> None:
    over = {"flows[0].control": ["reno", "late"]}
    swept = elephan.sweep(SMALL, over=over, store=tmp_path, precision="50%", metrics="jain", laws={"late": Late})
    document = swept.to_json()
    assert document["failures"]
    assert list(faults(document, SweepDocument, "")) == []
    compared = elephan.compare(SMALL, replications=1, real=False)
    assert list(faults(compared.to_json(), CompareDocument, "")) == []


def test_files_of_runs_are_of_their_type(tmp_path: Path) -> None:
    elephan.run(SMALL, 1).write(tmp_path)
    assert list(faults(read_document(tmp_path / "run.json"), RunFileDocument, "")) == []


def test_the_document_of_a_model_is_of_its_type() -> None:
    assert list(faults(MODELS["hstcp"].table().to_json(), ModelDocument, "")) == []


@pytest.mark.slow
def test_documents_of_worst_cases_are_of_their_types() -> None:
    worst = size_worst(SMALL, "utilization=0.9", {"flows[0].rtt": "40 ms..160 ms"}, runs=50)
    assert list(faults(worst.to_json(), WorstDocument, "")) == []
    assert list(faults(attack("reno", runs=50).to_json(), AttackDocument, "")) == []


def test_the_document_of_idle_time_is_of_its_type() -> None:
    found = elephan.why(SMALL.replace({"links[0].buffer": "5 packets"}))
    assert found.to_json()["charges"]
    assert list(faults(found.to_json(), IdleDocument, "")) == []


def test_a_fault_is_found() -> None:
    good: dict[str, Any] = {"labels": {}, "run": "a", "error": None}
    assert list(faults(good, SweepFailure, "")) == []
    assert list(faults(good | {"run": 1}, SweepFailure, "")) == [".run: 1 is no <class 'str'>"]
    assert list(faults(good | {"more": 1}, SweepFailure, "")) == [".more: not in the type"]
    assert list(faults({"run": "a", "error": None}, SweepFailure, "")) == [".labels: missing"]


def test_every_type_of_a_document_is_exported() -> None:
    made = [name for name, each in vars(documents).items() if is_typeddict(each) and name != "TypedDict"]
    assert len(made) > 15
    assert all(getattr(elephan.results, name) is getattr(documents, name) for name in made)
