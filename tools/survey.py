"""Runs the survey and compares every model with it; this rewrites the tables in `elephan.accuracy`.

``python tools/survey.py errors [MODEL ...]`` compares without simulating, for a model that is new or has changed.
``python tools/survey.py paced`` simulates only paced senders again, some ten minutes, and compares every model.
A run warms up for `SETTLING` sawteeth and is measured for `MEASURED`.
"""

from __future__ import annotations

import sys
from itertools import groupby, product
from typing import TYPE_CHECKING

import numpy as np

from elephan import _native
from elephan.accuracy.errors import FOLDER, KEYS, Row, file, number, read
from elephan.accuracy.survey import (
    FAMILIES,
    FLOWS,
    PACKET,
    REPLICATIONS,
    RTTS_MS,
    SEED,
    SHARES,
    SurveyCell,
    SurveyFamily,
    written,
)
from elephan.errors import InputError
from elephan.lint.sawtooth import slowest
from elephan.metrics import jain
from elephan.runs import default_workers, run
from elephan.runs.files import write_text
from elephan.runs.threads import SimulationThreads
from elephan.stats import estimate
from elephan.theory.models import MODELS, model
from elephan.theory.models.bottleneck import UNPACED, bottleneck

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from elephan.scenario import Scenario
    from elephan.theory.models import Model

FILE = FOLDER / "survey.csv"

MEASURES = ("utilization", "loss_ratio", "queueing_delay_s")
"""Columns of predicted quantities."""

SETTLING, MEASURED = 4, 10
"""Sawteeth of warm-up and measurement: slow starts overshoot large pipes, and windows equalize slowly."""
LEAST_PACKETS = 2e6
"""Minimum number of packets in a measurement: a loss ratio of 1e-4 is then accurate to a tenth."""
LEAST_SETTLING_S = 10.0
"""Minimum warm-up [s]: several timeouts, by which small windows recover from the losses of slow start."""


def digits(value: float, count: int = 6) -> str:
    """Format a number with at most `count` significant digits, as short as possible; NaN becomes an empty text.

    Examples
    --------
    >>> digits(0.123456789), digits(-2.0), digits(float("nan")), digits(-1e-20, 3), digits(-0.0)
    ('0.123457', '-2', '', '-1e-20', '0')
    """
    return "" if value != value else f"{value or 0.0:.{count}g}"


def text(notes: Iterable[str], rows: Iterable[Mapping[str, str]]) -> str:
    """Write a table as text.

    Parameters
    ----------
    notes : iterable of str
        Comment lines above the table.
    rows : iterable of mapping
        At least one row; all with the same keys.

    Examples
    --------
    >>> text(["how it was made"], [{"law": "reno", "flows": "2"}]).splitlines()
    ['# how it was made', 'law,flows', 'reno,2']
    """
    rows = list(rows)
    lines = [*(f"# {note}" for note in notes), ",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    return "\n".join(lines) + "\n"


def cells() -> Iterator[SurveyCell]:
    """Return all cells, in the order of the table; buffers vary fastest.

    Examples
    --------
    >>> len(list(cells()))
    2880
    """
    for family, rtt_ms, flows, share in product(FAMILIES, RTTS_MS, FLOWS, SHARES):
        yield SurveyCell(family, rtt_ms, flows, share)


def scenario(cell: SurveyCell) -> Scenario:
    """Write a cell as a scenario of sufficient duration.

    Examples
    --------
    >>> found = scenario(SurveyCell(FAMILIES[0], 120, 10, 0.1))
    >>> found.links[0]["bdp_packets"], found.facts["warmup_s"], found.facts["duration_s"]
    (1500.0, 41.0, 201.0)
    """
    short = written(cell)
    known = slowest(short.network.bulk)
    # Windows below four segments have hardly any sawtooth.
    period = known[1] if known else 0.0
    settled = round(1 + max(LEAST_SETTLING_S, SETTLING * period))
    measured = round(max(LEAST_PACKETS / cell.family.rate, MEASURED * period))
    return short.replace({"warmup": f"{settled} s", "duration": f"{settled + measured} s"})


def measure(cell: SurveyCell) -> Row:
    """Simulate a cell.

    Returns
    -------
    dict of str to str
        The cell's row of the table.

    Examples
    --------
    >>> measure(SurveyCell(FAMILIES[0], 10, 100, 2.0))["utilization"]
    '1'
    """
    outcomes = run(scenario(cell), workers=1).outcomes
    used = estimate([float(outcome.links["utilization"][0]) for outcome in outcomes])
    measured = {
        "utilization": used.mean,
        "utilization_ci95": used.ci95 or 0.0,
        "loss_ratio": estimate([outcome.loss_ratio(0) for outcome in outcomes]).mean,
        "queueing_delay_s": estimate([float(outcome.links["queueing_delay_s"][0]) for outcome in outcomes]).mean,
        "jain": estimate([jain(outcome.flows["goodput_bps"]) for outcome in outcomes]).mean,
    }
    family = cell.family
    return {
        "law": family.law,
        "discipline": family.discipline,
        "pacing": family.pacing,
        "rate_mbps": str(family.rate_mbps),
        "rtt_ms": f"{cell.rtt_ms:g}",
        "flows": str(cell.flows),
        "share": f"{cell.share:g}",
        "buffer_packets": str(cell.buffer_packets),
        **{name: digits(value) for name, value in measured.items()},
    }


def rows() -> tuple[Row, ...]:
    """Read the table.

    Returns
    -------
    tuple of dict of str to str
        Rows in the order of `cells`.

    Examples
    --------
    >>> rows()[0]["law"]
    'reno'
    """
    return read(FILE)


def simulate(*, only_paced: bool = False) -> None:
    """Simulate the grid and rewrite the table.

    Parameters
    ----------
    only_paced : bool
        Keep the rows of unpaced senders.
    """
    every = [cell for cell in cells() if not only_paced or cell.family.pacing != UNPACED]
    done = [row for row in rows() if row["pacing"] == UNPACED] if only_paced else []
    kept = len(done)
    with SimulationThreads(default_workers()) as pool:
        for row in pool.map(measure, every):
            done.append(row)
            sys.stderr.write(f"\r{len(done) - kept} of {len(every)} cells")
    notes = (
        f"Written by `python tools/survey.py` with elephan {_native.version()}: do not edit.",
        f"Packets of {PACKET} B, seed {SEED}, {REPLICATIONS} replications; share: of the bandwidth-delay product.",
    )
    sys.stderr.write(f"\nwrote {write_text(FILE, text(notes, done))}\n")


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
    >>> row = next(compared(model("sawtooth"), rows()))
    >>> row == errors("sawtooth")[0]
    True
    """
    assert chosen.predict is not None  # as documented
    for _, group in groupby(simulated, key=lambda row: [row[key] for key in KEYS[:-1]]):
        rows = list(group)
        link = bottleneck(written(cell(rows[0])).network, 0)
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


def cell(row: Row) -> SurveyCell:
    """Return the cell of a row of the survey.

    Examples
    --------
    >>> cell(rows()[1]) == list(survey.cells())[1]
    True
    """
    family = SurveyFamily(row["law"], row["discipline"], int(row["rate_mbps"]), row["pacing"])
    return SurveyCell(family, number(row["rtt_ms"]), int(row["flows"]), number(row["share"]))


def compare(names: Iterable[str]) -> None:
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
        found = list(compared(one, rows()))
        if not found:
            sys.stderr.write(f"{one.name} says nothing of any link of the survey\n")
            continue
        note = f"Written by `python tools/survey.py` with elephan {_native.version()}: do not edit."
        written = write_text(file(one.name), text([note, "Model minus simulation."], found))
        sys.stderr.write(f"wrote {written}\n")


def main(words: list[str]) -> None:
    """Rewrite the requested tables.

    Parameters
    ----------
    words : list of str
        Nothing, ``paced``, or ``errors`` and names of models.
    """
    if words and words[0] != "errors" and words != ["paced"]:
        sys.stderr.write(f'accuracy: there is no "{words[0]}"; say nothing, paced, or errors and names of models\n')
        sys.exit(2)
    if not words or words == ["paced"]:
        simulate(only_paced=bool(words))
    try:
        compare(words[1:])
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
