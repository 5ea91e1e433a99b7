"""Recorded results of answers, from which pages are written and with which later runs are compared."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from elephan import _native
from elephan.runs.files import write_text
from elephan_evidence.answers.answer import HOME
from elephan_evidence.answers.values import Bounds

if TYPE_CHECKING:
    from pathlib import Path

    from elephan_evidence.answers.answer import Answer
    from elephan_evidence.answers.asking import Outcome

STAYS = "stays"
"""Outcome of a repetition with the same verdict, and with intervals that overlap the recorded ones."""


@dataclass(frozen=True)
class Record:
    """Results of an answer.

    Parameters
    ----------
    version : str
        Version of elephan that ran the command.
    processor_s : float
        Processor time of the command [s].
    sentence, senders, changes, certainty : str
        The texts of the answer in Markdown, with the numbers filled in; see `Answer`.
    screen : str
        Output of the command at 80 columns.
    claims : dict of str to str
        States of the claims.
    stays : tuple of Bounds
        Intervals that must overlap with those of a repetition.
    drawn : tuple of (str, Bounds)
        Values of the picture.
    longer, seed : str
        Outcomes of the repetition four times as long, and of the one with another seed; empty if not repeated yet.
    shortened : dict of str to number
        Values of shortened runs, by name.
    """

    version: str
    processor_s: float
    sentence: str
    senders: str
    changes: str
    certainty: str
    screen: str
    claims: dict[str, str]
    stays: tuple[Bounds, ...] = ()
    drawn: tuple[tuple[str, Bounds], ...] = ()
    longer: str = ""
    seed: str = ""
    shortened: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, answer: Answer, outcome: Outcome) -> Record:
        """Make the record of a run."""
        document = outcome.document
        return cls(
            _native.version(),
            round(outcome.processor_s),
            answer.sentence(document),
            answer.fill(answer.senders, document),
            answer.fill(answer.changes, document),
            answer.certainty(document),
            outcome.screen,
            {claim.says: claim.state for claim in answer.verdict(document)},
            tuple(answer.kept(document)),
            tuple(answer.drawn(document)),
        )

    @classmethod
    def read(cls, answer: Answer) -> Record | None:
        """Read the record of an answer; None if its command has not been run."""
        file = _file(answer)
        if not file.exists():
            return None
        found = json.loads(file.read_text(encoding="utf-8"))
        found["screen"] = "\n".join(found["screen"])
        found["stays"] = tuple(Bounds(*each) for each in found["stays"])
        found["drawn"] = tuple((name, answer.drawable(Bounds(*each))) for name, each in found["drawn"])
        return cls(**found)

    def write(self, answer: Answer) -> Path:
        """Write the record beside the answer; the file appears whole or not at all."""
        document = asdict(self) | {"screen": self.screen.split("\n")}
        return write_text(_file(answer), json.dumps(document, indent=1, ensure_ascii=False) + "\n")

    def with_repetitions_of(self, before: Record | None) -> Record:
        """Return this record with the shortened runs of an earlier one, and its repetitions if the two agree."""
        if before is None:
            return self
        # Runs that were already in the store took no processor time now, so the larger of the two times is kept.
        kept = replace(self, processor_s=max(self.processor_s, before.processor_s), shortened=before.shortened)
        # Repetitions of another answer say nothing about this one.
        return replace(kept, longer=before.longer, seed=before.seed) if before.differences(self) == STAYS else kept

    @property
    def repetitions(self) -> str:
        """Outcomes of the repetitions in a sentence."""
        words = (("four times as long", self.longer), ("with another seed", self.seed))
        return "; ".join(f"{name}: {outcome or 'not yet'}" for name, outcome in words)

    def differences(self, other: Record) -> str:
        """Compare the verdict and the intervals with those of a later run.

        Returns
        -------
        str
            `STAYS`, or the parts that changed.
        """
        sizes = [f"{len(one.claims)} claims and {len(one.stays)} values" for one in (self, other)]
        if sizes[0] != sizes[1]:
            return f"{sizes[0]}, then {sizes[1]}"
        # Claims are compared by position, not by statement: statements may contain numbers that differ.
        found = [
            f"{says}: {was}, then {now}"
            for (says, was), now in zip(self.claims.items(), other.claims.values(), strict=True)
            if was != now
        ]
        found += [
            f"{was.text()}, then {now.text()}"
            for was, now in zip(self.stays, other.stays, strict=True)
            if not was.overlaps(now)
        ]
        return "; ".join(found) or STAYS


def _file(answer: Answer) -> Path:
    return HOME / f"{answer.id}.json"
