"""Repeat points of answers in ns-2 2.35 or ns-3 3.37, which must be installed, and record what they give.

    python evidence/repeat_elsewhere.py --bless            # all answers that have points to repeat
    python evidence/repeat_elsewhere.py convergence        # one of them, compared with what is recorded

Exit code 1 if a value differs from the recorded one: equal seeds give equal values on equal versions of a simulator.
Exit code 2 if a simulator, or the compiler that ns-3 needs, is missing.
"""

import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from elephan.errors import InputError
from elephan.runs.files import write_text
from elephan_evidence.answers import answers, find
from elephan_evidence.answers.answer import Repeat
from elephan_evidence.answers.repeats import FOUND, here, value
from elephan_evidence.answers.simulators import simulator
from elephan_evidence.answers.values import Bounds


@cache
def _lines(by: str, arguments: str, seeds: int, workers: int) -> list[str]:
    """Return the results of runs, which points of one run share."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda seed: simulator(by).run(arguments, seed), range(1, seeds + 1)))


def _repeat(repeat: Repeat, arguments: str, workers: int) -> Bounds:
    return value(repeat, _lines(repeat.by, arguments, repeat.seeds, workers))


def _both(repeat: Repeat, per: float, workers: int) -> dict[str, list[list[float]]]:
    def rounded(*all_bounds: Bounds) -> list[list[float]]:
        return [[float(f"{each / per:.4g}") for each in bounds] for bounds in all_bounds]

    there = _repeat(repeat, repeat.run, workers)
    if repeat.alike is None:
        return {"there": rounded(there)}
    alike = _repeat(repeat, repeat.alike.run, workers) if repeat.alike.run else there
    return {"there": rounded(there), "alike": rounded(here(repeat, workers), alike)}


def main() -> int:
    """Run what was asked for; return the exit code."""
    try:
        return _main()
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("id", nargs="*", help="answers; all by default")
    parser.add_argument("--point", action="append", help="these points alone")
    parser.add_argument("--bless", action="store_true", help="record the values")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time")
    asked = parser.parse_args()
    chosen = [find(name) for name in asked.id] or list(answers())
    differs = False
    found = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.exists() else {}
    for each in chosen:
        for repeat in each.repeats:
            if asked.point and repeat.point not in asked.point:
                continue
            assert each.picture is not None
            now = _both(repeat, each.picture.per, asked.workers)
            changed = found.get(each.id, {}).get(repeat.point) != now
            differs |= changed
            values = "; ".join(f"{name} {Bounds(*one).text()}" for name, all_of in now.items() for one in all_of)
            sys.stdout.write(f"{each.id}: {repeat.point}: {values}{' (changed)' if changed else ''}\n")
            sys.stdout.flush()
            found.setdefault(each.id, {})[repeat.point] = now
            if asked.bless:
                write_text(FOUND, json.dumps(found, indent=1, sort_keys=True) + "\n")
    return 1 if differs and not asked.bless else 0


if __name__ == "__main__":
    sys.exit(main())
