"""The package from outside: completion, messages about mistakes, imports, and the display of results."""

import copy
import inspect
import json
import pickle
import pkgutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jedi
import numpy as np
import pytest

import elephan
from elephan.catalog import KINDS, catalog
from elephan.catalog.entry import identifier
from elephan.display import ColumnTable, cell, facts, table
from elephan.theory.models import MODELS

ROOT = Path(__file__).resolve().parent.parent
REGISTRIES = ("laws", "slow_starts", "recoveries", "queues", "traffic")
SMALL = elephan.Scenario.from_text(elephan.EXAMPLE)


@pytest.fixture(scope="module")
def result() -> Any:
    return elephan.run(SMALL, replications=2, series=True)


def loaded_by(program: str) -> set[str]:
    """Return the modules that a fresh process has loaded after some lines."""
    lines = f"{program}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", lines], check=True, capture_output=True, text=True)
    return set(json.loads(done.stdout))


def test_importing_the_package_loads_no_scientific_library() -> None:
    heavy = {"numpy", "scipy", "matplotlib", "pyarrow", "bokeh", "pandas", "sqlite3", "rich", "typer", "jinja2"}
    assert not loaded_by("import elephan; elephan.Scenario.from_text(elephan.EXAMPLE); elephan.laws.cubic()") & heavy


def test_the_catalogue_is_listed_without_computing_anything() -> None:
    assert "scipy" not in loaded_by("import elephan; dir(elephan); dir(elephan.queues)")


def test_no_public_name_is_both_a_function_and_a_module() -> None:
    modules = {module.name for module in pkgutil.iter_modules(elephan.__path__)}
    shared = modules & set(elephan.__all__)
    assert shared == {name for name in shared if inspect.ismodule(getattr(elephan, name))}


def test_a_module_is_found_by_its_whole_name() -> None:
    loaded_by("import elephan, elephan.runs.result as result; assert elephan.runs.result is result")


def test_everything_that_is_promised_is_there() -> None:
    assert dir(elephan) == sorted(elephan.__all__)
    assert all(getattr(elephan, name) is not None for name in elephan.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Scenaro'"):
        _ = elephan.Scenaro  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS)
def test_every_card_is_an_entry_with_its_parameters(kind: str) -> None:
    registry = getattr(elephan, identifier(kind))
    cards = catalog(kind)
    assert [entry.name for entry in registry] == [card["name"] for card in cards]
    assert sorted(dir(registry)) == sorted(identifier(card["name"]) for card in cards)
    for card in cards:
        entry = getattr(registry, identifier(card["name"]))
        stated = [p.name for p in inspect.signature(entry).parameters.values()]
        assert stated[: len(card["parameters"])] == [p["name"] for p in card["parameters"]]
        assert card["title"] in entry.__doc__
        assert all(p["meaning"].split()[0] in entry.__doc__ for p in card["parameters"])
        assert all(registry[alias] is entry for alias in card["aliases"])


PLACES = {
    "laws": "flows[0].control",
    "recoveries": "flows[0].recovery",
    "queues": "links[0].queue",
    "traffic": "flows[0].traffic",
}


@pytest.mark.parametrize(("registry", "name"), [(s, e.name) for s in PLACES for e in getattr(elephan, s)])
def test_what_an_entry_gives_is_what_a_scenario_takes(registry: str, name: str) -> None:
    entry = getattr(elephan, registry)[name]
    # XCP needs its router, and one flow opens transfers for all.
    needed: dict[str, dict[str, object]] = {
        "xcp": {"links[0].queue": "xcp", "flows[0].control": "xcp"},
        "elastic": {"flows[0].count": 1},
    }
    place = PLACES[registry]
    others = {key: value for key, value in needed.get(name, {}).items() if key != place}
    assert SMALL.replace({place: entry, **others}) == SMALL.replace({place: entry(), **others})
    assert SMALL.replace({place: entry, **others}) == SMALL.replace({place: name, **others})


def test_the_slow_start_of_a_law_is_an_entry_too() -> None:
    control = elephan.laws.cubic(slow_start=elephan.slow_starts.limited(max_ssthresh=50))
    resolved = SMALL.replace({"flows[0].control": control}).resolved
    assert "50" in json.dumps(resolved["flows"][0]["control"]["slow_start"])


def test_a_default_that_is_not_given_is_left_to_the_scenario() -> None:
    assert elephan.queues.red() == {"discipline": "red"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: elephan.laws.hihgspeed, 'elephan.laws: unknown name "hihgspeed"; did you mean "highspeed"?'),
        (lambda: elephan.queues.drop_tial, 'elephan.queues: unknown name "drop_tial"; did you mean "drop_tail"?'),
        (lambda: elephan.models["sawtoth"], 'elephan.models: unknown name "sawtoth"; did you mean "sawtooth"?'),
        (lambda: elephan.queues.red(minth=5), 'queues.red: unknown parameter "minth"; did you mean "min_th"?'),  # type: ignore[call-arg]
        (lambda: elephan.recoveries.sack(zz=5), 'recoveries.sack: unknown parameter "zz"; there is none'),  # type: ignore[call-arg]
        (lambda: elephan.models.hstcp(rrt=1), 'models.hstcp: unknown parameter "rrt"; did you mean "rtt"?'),  # type: ignore[call-arg]
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(wrong: Any, said: str) -> None:
    with pytest.raises(elephan.InputError) as raised:
        wrong()
    assert str(raised.value) == said
    assert not hasattr(elephan.laws, "hihgspeed")


def test_entries_can_be_copied_and_pickled_by_whoever_holds_one() -> None:
    entry = elephan.laws.scalable
    assert copy.copy(elephan.laws) is not None
    assert copy.deepcopy({"law": entry(increase=0.02)}) == {"law": {"law": "scalable", "increase": 0.02}}
    assert pickle.loads(pickle.dumps(SMALL)) == SMALL


def test_a_model_takes_numbers_texts_and_lists() -> None:
    given = elephan.models.sawtooth(law=elephan.laws.reno, rtt=[0.02, "100 ms"], flows=np.array([1, 2]), rate=1e9)
    assert sorted(set(given["rtt"].tolist())) == [0.02, 0.1]
    assert sorted(set(given["flows"].tolist())) == [1.0, 2.0]
    text = MODELS["sawtooth"].table({"law": "reno", "rtt": "20 ms,100 ms", "flows": "1,2", "rate": "1 Gbit/s"})
    assert np.array_equal(given["utilization"], text["utilization"], equal_nan=True)


def test_editors_complete_names_and_parameters_without_running_anything() -> None:
    def complete(text: str) -> set[str]:
        environment = jedi.InterpreterEnvironment()
        project = jedi.Project(ROOT / "python", environment_path=sys.executable)
        script = jedi.Script(text, path=ROOT / "python" / "seen.py", project=project, environment=environment)
        return {found.name for found in script.complete()}

    head = "from elephan.catalog.registries import laws, queues\nfrom elephan.theory.models.registry import models\n"
    assert {"highspeed", "cubic"} <= complete(f"{head}laws.")
    assert {"sawtooth", "droptail_fixed_point"} <= complete(f"{head}models.")
    assert {"min_th=", "limit="} <= complete(f"{head}queues.red(")


def test_a_live_notebook_completes_the_same_names() -> None:
    found = {c.name for c in jedi.Interpreter("elephan.laws.hi", [{"elephan": elephan}]).complete()}
    assert found == {"highspeed"}


class _Cells(HTMLParser):
    """Texts of a page, and whether its tags are balanced."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_every_display_is_escaped_and_balanced(result: Any) -> None:
    evil = "<script>alert('a & b')</script>"
    named = SMALL.replace(title=evil)
    answer = elephan.size(named, "utilization=0.8", replications=2)
    shown = [named, elephan.run(named), answer, result.samples(), result.links, answer.table()]
    shown += [elephan.laws, elephan.queues.red, elephan.recoveries.sack, elephan.models.hstcp, elephan.models.hstcp()]
    shown.append(elephan.size_variants(named, ["reno", "cubic"], target="utilization=0.5", model_only=True))
    for each in shown:
        page = each._repr_html_()
        seen = _Cells(page)
        assert not seen.open, type(each)
        assert "<script" not in page, type(each)
        assert len(repr(each)) < 400 or isinstance(each, ColumnTable)
    assert evil in _Cells(named._repr_html_()).texts


def test_displays_bring_no_colours_of_their_own(result: Any) -> None:
    # A notebook's theme decides; black on black is what a stated colour gives.
    page = result._repr_html_() + SMALL._repr_html_()
    assert "background" not in page
    assert "color:#" not in page.replace(" ", "")


def test_a_table_is_read_to_those_who_do_not_see_it() -> None:
    page = table({"law": ["reno"], "utilization": [0.9]}, "Laws") + facts({"a": 1}, "b")
    assert page.count('scope="col"') == 2
    assert page.count('scope="row"') == 2
    assert page.count("<caption") == 2


def test_long_tables_are_cut_in_the_middle() -> None:
    page = _Cells(table({"n": list(range(1000))})).texts
    assert page[1:3] == ["0", "1"]
    assert "999" in page
    assert "500" not in page
    assert page[-1] == "1000 rows"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"mean": 0.92344, "ci95": 0.00412}, "0.923 ± 0.004"),
        ({"mean": 12345.6, "ci95": 321.0}, "12300 ± 300"),
        ({"mean": None, "ci95": None}, "–"),
        ({"mean": 0.5, "ci95": 0.0}, "0.5"),
        (float("nan"), "–"),
        (np.float64(0.25), "0.25"),
        (True, "yes"),
    ],
)
def test_a_value_is_written_as_precisely_as_it_is_known(value: object, written: str) -> None:
    assert cell(value) == written


def test_small_tables_hold_what_the_document_holds(result: Any) -> None:
    link = result.to_json()["links"][0]
    for name in ("utilization", "loss_ratio", "queueing_delay_s", "backlog_packets"):
        assert result.links[name] == [link[name]["mean"]]
        assert result.links[f"{name}_ci95"] == [link[name]["ci95"]]
    frame = result.links.to_pandas()
    assert frame.utilization[0] == link["utilization"]["mean"]
    with pytest.raises(elephan.InputError, match='unknown column "utilisation"; did you mean "utilization"'):
        _ = result.links["utilisation"]


def test_samples_are_those_of_the_outcomes(result: Any) -> None:
    frame = result.samples("links").to_pandas()
    first = frame[frame.replication == 0]
    assert np.array_equal(first.backlog_packets, result.outcomes[0].samples["backlog_packets"][0])
    assert "cwnd_segments" not in frame
    assert "cwnd_segments" in result.samples("flows")


def test_what_was_not_kept_is_said_to_be_missing() -> None:
    short = elephan.run(SMALL, replications=1)
    with pytest.raises(elephan.InputError, match="series=True"):
        short.samples()
    with pytest.raises(elephan.InputError, match="neither"):
        short.samples("packets")


def test_a_figure_shows_itself(result: Any) -> None:
    picture = result.plot()
    assert picture._repr_png_().startswith(b"\x89PNG")
    assert list(elephan.plots.run_figures(result)) == ["run", "distributions"]
    with pytest.raises(elephan.InputError, match='unknown picture "runs"; did you mean "run"'):
        result.plot("runs")
    assert elephan.models.hstcp().plot().axes


def test_one_picture_holds_several_tables_and_models(tmp_path: Path) -> None:
    over = {"links[0].buffer": ["10 packets", "40 packets"], "flows[0].control": ["reno", "cubic"]}
    swept = elephan.sweep(SMALL, over=over, replications=2, store=tmp_path)
    figure = elephan.plots.xy(swept, by="flows[0].control", models=[elephan.models.sawtooth])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["reno", "cubic", "model sawtooth"]
    lines = [
        line for line in figure.axes[0].get_lines() if line.get_linestyle() == "-" and np.size(line.get_xdata()) > 9
    ]
    # Two laws, two curves: each model reads the scenario of its own series.
    assert len(lines) == 2
    assert not np.array_equal(lines[0].get_ydata(), lines[1].get_ydata())
    tables = {"sweep": swept, "frame": swept.table().to_pandas()}
    both = elephan.plots.xy(tables, "core.buffer_packets", "jain", at={"flows[0].control": "reno"})
    assert [text.get_text() for text in both.legends[0].get_texts()] == ["sweep", "frame"]
    # A line through both laws would mean nothing, whatever the table is.
    for one in tables.values():
        with pytest.raises(elephan.InputError, match=r"differ in flows\[0\].control \(reno, cubic\).*facet="):
            elephan.plots.xy(one, "core.buffer_packets", "jain")


def test_factors_have_panels_of_their_own(tmp_path: Path) -> None:
    over = {"links[0].buffer": ["0.1 bdp", "1 bdp"], "flows[0].rtt": ["20 ms", "80 ms"], "flows[0].count": [1, 2]}
    swept = elephan.sweep(SMALL, over=over, replications=1, store=tmp_path)
    # Every point has another number of packets, and yet a line through both round-trip times is a zigzag.
    with pytest.raises(elephan.InputError, match=r"differ in flows\[0\].rtt \(20 ms, 80 ms\)"):
        elephan.plots.xy(swept, by="flows[0].count")
    figure = elephan.plots.xy(swept, by="flows[0].count", facet="flows[0].rtt")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["flows[0].rtt = 20 ms", "flows[0].rtt = 80 ms"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["1", "2"]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    colours = [[line.get_color() for line in axes.get_lines()] for axes in figure.axes]
    assert colours[0] == colours[1]
    with pytest.raises(elephan.InputError, match=r"no row has flows\[0\].count = 3; there are 1, 2"):
        elephan.plots.xy(swept, at={"flows[0].count": 3})
    many = {"run": list(range(13)), "buffer_packets": [1] * 13, "utilization": [0.5] * 13}
    with pytest.raises(elephan.InputError, match="run has 13 values; at most 12 panels"):
        elephan.plots.xy(many, facet="run")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"y": "utilisation"}, "utilization"),
        ({"models": ["sawtooth"]}, "of a sweep"),
        ({"models": ["sawtoth"]}, "sawtoth|of a sweep"),
    ],
)
def test_a_picture_that_cannot_be_is_refused(result: Any, arguments: Any, said: str) -> None:
    with pytest.raises(elephan.InputError, match=said):
        elephan.plots.xy(result.links, **arguments)


def test_the_stubs_are_those_of_the_catalogue() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "stubs.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_comes_from_a_store_shows_itself_too(tmp_path: Path) -> None:
    swept = elephan.sweep(SMALL, over={"links[0].buffer": ["10 packets", "20 packets"]}, store=tmp_path)
    with elephan.Store(tmp_path) as store:
        shown: list[Any] = [swept, swept.table(), store.runs()[0]]
        for each in shown:
            assert not _Cells(each._repr_html_()).open
            assert len(repr(each)) < 120
    assert "20 packets" in _Cells(swept._repr_html_()).texts
