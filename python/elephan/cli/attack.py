"""``elephan attack``: the worst case of a congestion control on a small family of networks."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from elephan.cli import options
from elephan.cli.common import check_laws, check_out
from elephan.cli.options import argument, option
from elephan.cli.worst_screen import attack_screen, search_worst
from elephan.own_laws import declare

EXAMPLE = """Example:  elephan attack bbr1 --harm starvation --out attacked/
elephan attack cubic --harm utilization --range flows.0.rtt="50..100 ms" --range flows.1.count=1..5"""


def attack(
    law_name: Annotated[str, argument("LAW", "Any law, e.g. bbr1 or cubic (elephan list laws).", show_default=False)],
    harm: Annotated[str, option("--harm utilization|starvation|delay|loss", "Harm to look for.")] = "starvation",
    range_: options.Range = None,
    runs: options.Runs = None,
    law: options.Law = None,
    seed: Annotated[int, option("--seed", "Seed of the search.", min=0)] = 1,
    workers: options.Workers = None,
    out: options.Out = None,
    quiet: options.Quiet = False,
    json: options.Json = False,
) -> None:
    """Search for the network on which a congestion control does most harm.

    One link of 20 Mbit/s, two flows of the law. RTTs, buffer, the second start and random loss vary. The case found is
    a scenario file in --out. A search is not a proof.
    """
    from elephan.worst import attack as search  # noqa: PLC0415 (--help does without NumPy)
    from elephan.worst.sizing import RUNS  # noqa: PLC0415 (as above)

    check_out(out)
    declare(law or [])
    check_laws([law_name])
    look = partial(search, law_name, harm, range_ or [], runs=runs or RUNS, seed=seed, workers=workers)
    title, screen = f"attack on {law_name}", lambda found: attack_screen(found, out)
    search_worst(title, lambda watch: look(progress=watch), screen, out, quiet=quiet, json=json)
