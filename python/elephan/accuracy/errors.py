"""Errors of each model on each link of the survey, model minus simulation: one table per model in ``errors/``.

`elephan.accuracy.nearby` and the maps read these tables, so that they neither simulate nor compute a model.
"""

from __future__ import annotations

import sys
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from elephan import _native
from elephan.accuracy import survey
from elephan.accuracy.table import FOLDER, Row, digits, number, read, text
from elephan.errors import InputError
from elephan.runs.files import write_text
from elephan.theory.models import MODELS, bottleneck, model

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from elephan.theory.models import Model

KEYS = ("law", "discipline", "pacing", "rtt_ms", "flows", "share")
"""Columns that identify a cell in both tables."""

MEASURES = ("utilization", "loss_ratio", "queueing_delay_s")


def file(name: str) -> Path:
    """Return the path of a model's table.

    Examples
    --------
    >>> file("sawtooth").name
    'sawtooth.csv'
    """
    return FOLDER / "errors" / f"{name}.csv"


def errors(name: str) -> tuple[Row, ...]:
    """Read a model's table.

    Returns
    -------
    tuple of dict of str to str
        A row for each cell to which the model applies; empty if it has no table.

    Examples
    --------
    >>> list(errors("sawtooth")[0])
    ['law', 'discipline', 'pacing', 'rtt_ms', 'flows', 'share', 'utilization', 'loss_ratio', 'queueing_delay_s']
    """
    return read(file(name))


def compared(chosen: Model, simulated: Iterable[Row]) -> Iterator[Row]:
    """Compare a model with rows of the survey.

    Parameters
    ----------
    chosen : Model
        A model that predicts.
    simulated : iterable of dict of str to str
        Rows of the survey; rows that differ only in the buffer must be adjacent.

    Yields
    ------
    dict of str to str
        Model minus simulation, for each row for which the model gives a utilization: four digits after the point for
        utilization, three digits for loss and delay.

    Examples
    --------
    >>> row = next(compared(model("sawtooth"), survey.rows()))
    >>> row == errors("sawtooth")[0]
    True
    """
    assert chosen.predict is not None  # as documented
    for _, group in groupby(simulated, key=lambda row: [row[key] for key in KEYS[:-1]]):
        rows = list(group)
        link = bottleneck(survey.written(cell(rows[0])).network, 0)
        assert link is not None  # its only link carries its flows
        if chosen.unsuited(link):
            continue
        found = chosen.predict(link, np.array([number(row["buffer_packets"]) for row in rows]))._asdict()
        for i, row in enumerate(rows):
            off = {name: float(found[name][i]) - number(row[name]) for name in MEASURES}
            if np.isfinite(off["utilization"]):
                yield {
                    **{key: row[key] for key in KEYS},
                    "utilization": digits(round(off["utilization"], 4)),
                    **{name: digits(off[name], 3) for name in MEASURES[1:]},
                }


def cell(row: Row) -> survey.SurveyCell:
    """Return the cell of a row of the survey.

    Examples
    --------
    >>> cell(survey.rows()[1]) == list(survey.cells())[1]
    True
    """
    family = survey.SurveyFamily(row["law"], row["discipline"], int(row["rate_mbps"]), row["pacing"])
    return survey.SurveyCell(family, number(row["rtt_ms"]), int(row["flows"]), number(row["share"]))


def rewrite(names: Iterable[str]) -> None:
    """Compare models with the current survey, and rewrite their tables.

    Parameters
    ----------
    names : iterable of str
        Names of models that predict; all of them if empty.

    Raises
    ------
    InputError
        If there is no such model, or it does not apply to links.
    """
    chosen = [model(name) for name in names] or [one for one in MODELS.values() if one.predict is not None]
    for one in chosen:
        if one.predict is None:
            message = f"{one.name}: says nothing of a link that could be compared"
            raise InputError(message)
        rows = list(compared(one, survey.rows()))
        if not rows:
            sys.stderr.write(f"{one.name} says nothing of any link of the survey\n")
            continue
        note = f"Written by `python -m elephan.accuracy` with elephan {_native.version()}: do not edit."
        written = write_text(file(one.name), text([note, "Model minus simulation."], rows))
        sys.stderr.write(f"wrote {written}\n")
