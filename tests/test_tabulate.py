"""Laws as tables: the table of a function, and its use by the engine and the models."""

import json
import math
from typing import Any

import numpy as np
import pytest

from elephan import EXAMPLE, InputError, Scenario, ScenarioError, _native, law_table, run
from elephan.lint.sawtooth import period_s
from elephan.tabulate import line, power
from elephan.theory import controls, highspeed, reno, response, synchronised
from elephan.theory.models import MODELS, bottleneck
from elephan.theory.models.flows import mixed_laws
from elephan.theory.textbook import tabulated

WINDOWS = np.arange(1, 83_000) + 0.5


def _with(control: object, **more: object) -> Scenario:
    return Scenario.from_text(EXAMPLE).replace({"flows[0].control": control, **more})


def test_a_function_becomes_a_table_within_the_tolerance() -> None:
    """Checked at windows that are not knots; a jump (at 38) to a millionth of its window."""
    law = highspeed()
    for tolerance in (1e-2, 1e-3):
        table = law_table(law.increase, lambda w: 0.5 if w <= 38 else 0.2, (1, 83_000), tolerance=tolerance)
        assert np.abs(power(table["increase"], WINDOWS) / law.increase(WINDOWS) - 1).max() <= tolerance
        assert line(table["decrease"], [37.999, 38.001]).tolist() == pytest.approx([0.5, 0.2], rel=tolerance)
    assert len(table["increase"]) < 50


def test_arrays_are_taken_as_they_are() -> None:
    """One array for both, a number for all windows, and NumPy's own types."""
    table = law_table(np.array([1, 2]), 0.25, np.array([10, 1000]))
    assert table == {"law": "tabulated", "increase": [[10.0, 1.0], [1000.0, 2.0]], "decrease": [[10.0, 0.25]]}
    assert Scenario.from_text(EXAMPLE).replace({"flows[0].control": table}).groups[0]["law"] == "tabulated"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1, 2], 0.5, [1, 2, 3]), "a: has 2 values for 3 windows; give one for each, or a function"),
        ((1, 0.5, [2, 1]), "windows: must rise from 1 segment or more; give for example (1, 100_000)"),
        ((1, 0.5, [0.5, 1]), "windows: must rise from 1 segment or more; give for example (1, 100_000)"),
        ((lambda w: 1 - w, 0.5), "a: is 0 at a window of 1; must be a number above 0"),
        ((1, lambda _: math.nan), "b: is nan at a window of 1; must be a number above 0"),
        ((lambda w: 2 + math.sin(w), 0.5), "a: 4096 knots are not enough; give a larger tolerance than 0.001"),
    ],
)
def test_what_is_no_law_is_refused(given: tuple[object, ...], said: str) -> None:
    """Refused in one line that states the place."""
    with pytest.raises(InputError) as caught:
        law_table(*given)  # type: ignore[arg-type]
    assert str(caught.value) == said


def test_places_inside_a_table_are_named_and_can_be_changed() -> None:
    """Addressed by path, as any other place of the file."""
    scenario = _with({"law": "tabulated", "increase": [[1, 1], [38, 1]]})
    with pytest.raises(ScenarioError, match=r"^scenario: flows\[0\].control.increase\[1\]: the window must be above"):
        scenario.replace({"flows[0].control.increase[1]": [1, 1]})
    changed = scenario.replace({"flows[0].control.increase": [[1, 2]]})
    assert changed.resolved["flows"][0]["control"]["increase"] == [[1.0, 2.0]]
    assert changed.id != scenario.id
    # Numbers, however they are written, are one identity.
    assert scenario.replace({"flows[0].control.increase": [[1.0, 1.0], [3.8e1, 1.0]]}).id == scenario.id


def test_a_table_of_reno_gives_the_bytes_of_reno() -> None:
    """All results, to the last bit: the gains are the same numbers."""
    laws: list[object] = ["reno", law_table(1, lambda _: 0.5)]
    documents: list[dict[str, Any]] = [{**run(_with(law), replications=2).to_json()} for law in laws]
    for document in documents:
        del document["run"], document["warnings"]
        for group in document["groups"]:
            del group["law"]
    assert json.dumps(documents[0]) == json.dumps(documents[1])


def test_a_table_of_highspeed_is_highspeed_within_its_tolerance() -> None:
    """Windows up to 500 segments, cut a hundred times. A gain that is a thousandth off moves losses by packets."""
    more = {"links[0].rate": "100 Mbit/s", "links[0].buffer": "150 packets", "duration": "60 s", "warmup": "10 s"}
    law = highspeed()
    tables_ = law_table(law.increase, law.decrease)
    found = [run(_with(control, **more), replications=4).to_json() for control in ("highspeed", tables_)]
    own, table = (x["links"][0]["utilization"]["mean"] for x in found)
    # Ten times less than the interval of four replications.
    assert table == pytest.approx(own, abs=1e-3)
    own, table = (x["groups"][0]["goodput_bps"]["mean"] for x in found)
    assert table == pytest.approx(own, rel=1e-3)


def test_the_engine_and_the_models_read_a_table_alike() -> None:
    """One round trip of avoidance adds a(w), a loss leaves (1 - b) w; a(w) is that of the middle of whole segments."""
    control = {"law": "tabulated", "increase": [[10, 1], [1000, 30]], "decrease": [[5, 0.6], [500, 0.1]]}
    law = response(controls.write(control))
    text = json.dumps(control).replace('": ', '" = ')
    for window in (8, 64, 200, 800):
        rows = _native.law_rounds(
            text, base_rtt_s=0.1, bdp=1e6, losses=[0], timeouts=[], count=3, initial_window=window / 2
        )
        # One round of slow start doubles the window but for the lost segment's.
        top = window - 1
        after = top * (1 - float(law.decrease(top)))
        assert rows[1, 1] == pytest.approx(max(after, 2), rel=1e-9)
        # Within a round trip the window rises, and with it a(w)/w falls: first order in a/w, and whole ACKs.
        grown = float(law.increase(after))
        assert rows[2, 1] - rows[1, 1] == pytest.approx(grown, rel=1.1 * grown / after + 1 / after)


def test_models_tell_one_table_from_the_other() -> None:
    """A scenario's tables are what its models compute with, not the defaults."""
    table = law_table(lambda w: 0.01 * w + 1, 0.125)
    link = bottleneck(_with(table, **{"flows[0].count": 1}).network, 0)
    assert link is not None
    assert link.law_name == "tabulated"
    buffers = np.array([5.0, 20.0])
    model = MODELS["sawtooth"]
    assert model.unsuited(link) == ""
    assert model.predict is not None
    own = synchronised(response(link.law), link.rate, buffers, link.mean_rtt_s)
    assert model.predict(link, buffers).utilization.tolist() == own.utilisation.tolist()
    plain = synchronised(reno(), link.rate, buffers, link.mean_rtt_s)
    assert (own.utilisation > plain.utilisation).all()
    # Two tables on one link are two laws.
    two = Scenario.from_text(EXAMPLE)
    groups = [{**two.source["flows"][0], "name": name} for name in ("one", "two")]
    groups[0]["control"], groups[1]["control"] = table, {"law": "tabulated"}
    mixed = bottleneck(two.replace({"flows": groups}).network, 0)
    assert mixed is not None
    assert mixed_laws(mixed) == "flows have different laws: tabulated, tabulated"
    assert {name for name, m in MODELS.items() if m.predict and not m.unsuited(link)} >= {"sawtooth", "fluid"}


def test_a_table_of_highspeed_responds_as_highspeed() -> None:
    """The balance that HighSpeed's own a(w) was made from gives its w(p) back, within the tolerance of the table."""
    law = highspeed()
    own = law_table(law.increase, law.decrease, (1, 38, 83_000), tolerance=1e-4)
    table = tabulated(own["increase"], own["decrease"])
    p = np.geomspace(1e-6, 9e-4, 20)
    # w goes with p^-0.83 and a, of which 1e-4 is off.
    assert np.abs(table.window(p) / law.window(p) - 1).max() < 1e-4
    assert tabulated().window(p) == pytest.approx(reno().window(p), rel=1e-9)


def test_warm_ups_know_how_long_a_table_takes() -> None:
    """The lints evaluate the law itself: Reno's table takes as long as Reno."""
    (table,) = _with({"law": "tabulated"}).network.bulk
    (own,) = _with("reno").network.bulk
    found, expected = period_s(table), period_s(own)
    assert found is not None
    # Whole round trips, and back at 99 % of the window.
    assert found == pytest.approx(expected, rel=0.15)
