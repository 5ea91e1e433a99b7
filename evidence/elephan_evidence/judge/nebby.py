"""Mean packets in flight, cuts and the time between them, computed from packets that Nebby's authors captured.

    python -m elephan_evidence.judge.nebby FOLDER > measured.csv

FOLDER holds a capture per law, ``NAME.csv`` or ``NAME.csv.gz``, in the columns of github.com/NUS-SNL/Nebby. The packets
themselves are not part of this package.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elephan_evidence.judge import windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SEGMENT = 48
"""Payload of the captured segments [bytes]."""

BEGIN_S = 8.0
"""Start of what counts [s]: slow start, and the cut that ends it, are over."""

COLUMNS = ("law", "in_flight", "cut_ratio", "period_s", "cuts")


def measure(rows: Iterable[dict[str, str]]) -> tuple[float, windows.Cuts]:
    """Return mean packets in flight and the cuts of a captured flow.

    Parameters
    ----------
    rows : iterable of dict
        Rows of a capture at the sender, in order. The data goes to the port to which most packets with payload go.

    Raises
    ------
    ValueError
        If there are fewer than two data packets and ACKs after `BEGIN_S`.
    """
    segments = [row for row in rows if row["tcp.seq"]]
    ports = Counter(row["tcp.dstport"] for row in segments if int(row["tcp.len"]))
    [(port, _)] = ports.most_common(1) or [("", 0)]
    sent = [
        (float(row["frame.time_relative"]), int(row["tcp.seq"]) + int(row["tcp.len"]))
        for row in segments
        if row["tcp.dstport"] == port
    ]
    acked = [(float(row["frame.time_relative"]), int(row["tcp.ack"])) for row in segments if row["tcp.dstport"] != port]
    if len(sent) < 2 or len(acked) < 2 or min(sent[-1][0], acked[-1][0]) <= BEGIN_S:
        message = "a capture needs data and ACKs, and more than 8 s of them"
        raise ValueError(message)
    data, acks = np.array(sent, dtype=float), np.array(acked, dtype=float)
    end = float(min(data[-1, 0], acks[-1, 0]))
    highest = windows.resampled(data[:, 0], np.maximum.accumulate(data[:, 1]), BEGIN_S, end)
    lowest = windows.resampled(acks[:, 0], np.maximum.accumulate(acks[:, 1]), BEGIN_S, end)
    flight = windows.Window((highest.packets - lowest.packets) / SEGMENT)
    return flight.mean(), windows.cuts(flight)


def table(folder: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield a row per capture of a folder, in the order of names."""
    for path in sorted([*folder.glob("*.csv"), *folder.glob("*.csv.gz")]):
        with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as file:
            mean, cuts = measure(csv.DictReader(file))
        shown = ["" if np.isnan(x) else f"{x:.4g}" for x in (mean, cuts.ratio, cuts.period)]
        yield path.name.partition(".")[0], shown[0], shown[1], shown[2], str(cuts.count)


def main() -> int:
    """Write the table of a folder on stdout."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.stderr.write(
            "usage: python -m elephan_evidence.judge.nebby FOLDER (with NAME.csv.gz of Nebby's captures)\n"
        )
        return 2
    rows = csv.writer(sys.stdout, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows(table(Path(sys.argv[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
