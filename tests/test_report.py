"""Pages of results: one file that needs nothing else, agrees with the documents, and is accessible."""

import json
import re
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elephan
from conftest import Command
from elephan.comparisons import compare as ask
from elephan.formats import stamped
from elephan.loading import load
from elephan.pictures.figure import Axis, Figure, Mark, Series
from elephan.plots import draw
from elephan.reports import report
from elephan.reports.themes import THEMES
from elephan.scenario import EXAMPLE, Scenario
from elephan.sizing import size_variants
from elephan.store import Store
from elephan.sweeps import sweep
from elephan_evidence.report.reproduction import VERDICTS
from report_pages import Node, contrast, numbers, read, swept, tables
from testbeds import beside

pytestmark = pytest.mark.slow

HOSTILE = "</script><script>alert(1)</script>\"'<b>&amp;"
MOST_BYTES = 3_000_000
"""Maximum size of a page that mail servers still accept [bytes]."""

CLAIMS: list[dict[str, Any]] = [
    {
        "id": "p1-7",
        "origin": "stated",
        "paper": "p1",
        "kind": "figure",
        "statement": "92 % at 1250 packets",
        "expected": 0.92,
    }
    | {"measured": {"mean": 0.924, "ci95": 0.008}, "tolerance": 0.02, "verdict": "pass", "note": ""},
    {
        "id": "p1-8",
        "origin": "misprint",
        "paper": "p1",
        "kind": "table",
        "statement": "fair <always>",
        "expected": "fair",
    }
    | {"measured": 0.6, "tolerance": None, "verdict": "deviation", "note": "one seed"},
    {"id": "p2-1", "origin": "stated", "paper": "p2", "kind": "figure", "statement": "never", "expected": [1, 2]}
    | {"measured": None, "tolerance": None, "verdict": "not_run", "note": ""},
]


def small(**changes: object) -> Scenario:
    return Scenario.from_text(EXAMPLE).replace(changes)


def reproduced(claims: list[dict[str, Any]], **parts: object) -> dict[str, Any]:
    """A document of `elephan reproduce` about these claims."""
    origins: dict[str, dict[str, int]] = {}
    for claim in claims:
        origins.setdefault(claim["origin"], dict.fromkeys(VERDICTS, 0))[claim["verdict"]] += 1
    empty: dict[str, Any] = {name: [] for name in ("power", "changed", "counts", "deviations", "open")}
    about = {"claims": claims, "summary": {}, "origins": origins, "quick": False, "wall_s": 3.0, "provenance": {}}
    return about | empty | parts


def folder_of(path: Path, document: dict[str, Any], name: str) -> Path:
    path.mkdir(exist_ok=True)
    (path / name).write_text(json.dumps(stamped(document)))
    return path


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder of each kind, whose titles and names contain markup that must not take effect."""
    root = tmp_path_factory.mktemp("results")
    scenario = small(title=HOSTILE, replications=2).replace({"flows[0].name": HOSTILE})
    elephan.run(scenario, series=True).write(root / "run")
    elephan.size(scenario, "utilization=0.8,delay=50ms").write(root / "size")
    size_variants(scenario, ["reno", "cubic"], ["fq"], lambda s: elephan.size(s, "utilization=0.8")).write(
        root / "comparison"
    )
    made = swept(["10 packets", "20 packets", "200 packets"], [1, 4], HOSTILE)
    failed = {"labels": {"links[0].buffer": HOSTILE}, "run": "f" * 64, "error": HOSTILE}
    made |= {"base": scenario.text, "failures": [failed]}
    folder_of(root / "sweep", made, "sweep.json")
    claims = [claim | {"note": HOSTILE} for claim in CLAIMS]
    shown = [{"says": HOSTILE, "measured": {"mean": 0.5, "ci95": None}, "holds": False}]
    argued = dict.fromkeys(("paper", "title", "why", "ns2", "needs"), HOSTILE) | {"claims": ["a.b"], "shown": shown}
    left: dict[str, Any] = dict.fromkeys(("paper", "what", "default"), HOSTILE) | {"shown": []}
    counts = [{"says": HOSTILE, "measured": 12.0}]
    document = reproduced(claims, deviations=[argued], open=[left], counts=counts)
    folder_of(root / "reproduce", document, "reproduce.json")
    model: dict[str, Any] = {"model": "sawtooth", "title": HOSTILE, "source": HOSTILE, "fails": [HOSTILE], "units": {}}
    model["units"] = {"law": "", "buffer": "packets", "utilization": "1"}
    model["rows"] = [{"law": "reno", "buffer": 10.0 * i, "utilization": 0.1 * i} for i in range(1, 5)]
    folder_of(root / "model", model, "sawtooth.json")
    alone = ask(scenario.replace({"record": {"every": "50 ms"}}), real=False)
    beside(alone, alone.simulated, f"replication 0: {HOSTILE}").write(root / "compare")
    return {path.name: path for path in root.iterdir()}


KINDS = ("run", "size", "comparison", "sweep", "reproduce", "model", "compare")


@pytest.fixture(scope="module")
def html(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    made: dict[str, str] = {}

    def of(kind: str) -> str:
        if kind not in made:
            made[kind] = report(folders[kind], tmp_path_factory.mktemp("pages") / "page.html").read_text()
        return made[kind]

    return of


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_one_file_that_loads_nothing(html: Callable[[str], str], kind: str) -> None:
    text = html(kind)
    assert len(text.encode()) < MOST_BYTES
    page = read(text)
    for tag in ("link", "iframe", "object", "embed", "base", "img"):
        assert not page.all(tag)
    assert not [node for node in page.all("script") if "src" in node.attributes]
    assert all(node.attributes["href"].startswith("#") for node in page.all("a"))
    style = page.all("style")[0].text
    assert "url(" not in style
    assert "@import" not in style
    policy = page.all("meta", http_equiv="") or page.all("meta")
    said = next(node.attributes["content"] for node in policy if node.attributes.get("http-equiv"))
    assert said.startswith("default-src 'none'")


@pytest.mark.parametrize("kind", KINDS)
def test_titles_cannot_break_out(html: Callable[[str], str], kind: str) -> None:
    text = html(kind)
    assert "<script>alert" not in text
    page = read(text)
    # The library, the page's own script and that of its choices; anything else would have been smuggled in.
    code = [node for node in page.all("script") if node.attributes.get("type") != "application/json"]
    assert len(code) == 2 + (kind == "sweep")
    assert not page.all("b")
    if kind != "reproduce":
        assert page.all("h1")[0].text == HOSTILE


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_an_order_that_can_be_heard(html: Callable[[str], str], kind: str) -> None:
    page = read(html(kind))
    assert page.all("html")[0].attributes["lang"] == "en"
    for landmark in ("header", "nav", "main", "footer"):
        assert len(page.all(landmark)) == 1
    assert len(page.all("h1")) == 1
    levels = [
        int(name[1]) for name in re.findall(r"<(h[1-6])", re.sub(r"<script.*?</script>", "", html(kind), flags=re.S))
    ]
    assert levels[0] == 1
    # Deeper by one at most: no level is left out.
    assert all(after <= before + 1 for before, after in pairwise(levels))
    names = {node.attributes.get("id") for node in _every(page)}
    assert all(node.attributes["href"][1:] in names for node in page.all("a"))
    assert all(node.attributes["aria-labelledby"] in names for node in page.all("section"))
    assert all(node.text or "aria-label" in node.attributes for node in page.all("button"))
    assert all(row.all("th")[0].attributes["scope"] == "col" for row in page.all("thead"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_is_said_in_words_with_numbers_behind_it(html: Callable[[str], str], kind: str) -> None:
    page = read(html(kind))
    pictures = page.all("figure")
    assert pictures
    for picture in pictures:
        words = picture.all("div", role="img")[0].attributes["aria-label"]
        assert len(words) > 40
        assert picture.all("p", class_="words")[0].text == words
        if kind != "sweep":  # there the table of points is behind all that can be chosen
            assert re.search(r"\d", words)
            assert len(picture.all("details")[0].all("tr")) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_folder_gives_the_same_bytes(
    html: Callable[[str], str], folders: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    before = html(kind)
    for other in KINDS:
        html(other)
    assert report(folders[kind], tmp_path / "again.html").read_text() == before


def test_a_run_says_what_its_document_says(html: Callable[[str], str], folders: dict[str, Path]) -> None:
    document = json.loads((folders["run"] / "run.json").read_text())
    page = read(html("run"))
    assert numbers(page, "Links, with 95 % intervals", 4) == [
        pytest.approx(100 * document["links"][0]["utilization"]["mean"], rel=1e-12)
    ]
    group = document["groups"][0]
    cells = tables(page)["Groups of flows, with 95 % intervals"][0]
    assert cells[:4] == [HOSTILE, group["law"], group["recovery"], str(group["flows"])]
    drawn = {picture.attributes["id"] for picture in page.all("figure")}
    assert drawn >= {f"picture-{name}" for name in ("cwnd", "backlog", "srtt", "utilization", "distribution", "delay")}
    facts = {term.text: value.text for term, value in zip(page.all("dt"), page.all("dd"), strict=True)}
    assert facts["run"] == document["run"]["id"]
    assert facts["seed"] == "1"


def test_a_size_says_what_its_document_says(html: Callable[[str], str], folders: dict[str, Path]) -> None:
    document = json.loads((folders["size"] / "size.json").read_text())
    page = read(html("size"))
    curve = "Every buffer measured, with 95 % intervals"
    assert numbers(page, curve, 0) == [row["buffer_packets"] for row in document["curve"]]
    assert numbers(page, curve, 3) == pytest.approx(
        [1e3 * row["queueing_delay_s"]["mean"] for row in document["curve"]]
    )
    assert numbers(page, "Rules of thumb", 1) == list(document["rules"].values())
    sentence = page.all("p", class_="sentence")[0].text
    low, high = document["buffer_interval_packets"]
    assert sentence.startswith(f"{document['buffer_packets']} packets (95 %: {low} to {high}), ")
    command = next(node.text for node in page.all("code") if node.text.startswith("elephan size"))
    assert command == "elephan size scenario.toml --link core --target utilization=0.8 --target delay=50ms --out sized/"
    assert document["tc"] in {node.text for node in page.all("code")}


def test_the_scenario_of_a_page_gives_its_run_again(html: Callable[[str], str], folders: dict[str, Path]) -> None:
    page = read(html("run"))
    text = page.all("section", id="scenario")[0].all("code")[0].text
    assert Scenario.from_text(text).id == json.loads((folders["run"] / "run.json").read_text())["run"]["id"]


def test_a_comparison_shows_every_variant(html: Callable[[str], str], folders: dict[str, Path]) -> None:
    document = json.loads((folders["comparison"] / "comparison.json").read_text())
    page = read(html("comparison"))
    rows = tables(page)["Variants, with 95 % intervals"]
    assert [row[0].removesuffix(" (recommended)") for row in rows] == ["reno", "cubic"]
    assert sum("recommended" in row[0] for row in rows) == 1
    assert numbers(page, "Variants, with 95 % intervals", 3) == [v["buffer_packets"] for v in document["variants"]]
    assert page.all("p", class_="sentence")[0].text[1:] == f"{document['recommendation']['reason']}."[1:]


def test_a_sweep_shows_every_point_and_failure(html: Callable[[str], str], folders: dict[str, Path]) -> None:
    document = json.loads((folders["sweep"] / "sweep.json").read_text())
    page = read(html("sweep"))
    rows = tables(page)["Points, with 95 % intervals"]
    assert [row[:2] for row in rows] == [[str(v) for v in p["labels"].values()] for p in document["points"]]
    assert [row[-1] for row in tables(page)["Points that failed"]] == [HOSTILE]
    data = json.loads(page.all("script", id="explorers")[0].text)[0]
    assert [axis["numbers"] for axis in data["axes"]] == [[10, 20, 200], [1, 4]]
    first = data["quantities"][0]
    assert first["title"] == "utilization of core"
    assert first["mean"] == pytest.approx([100 * p["links"][0]["utilization"]["mean"] for p in document["points"]])
    assert data["at"] == [[i, j] for i in range(3) for j in range(2)]


def test_a_sweep_shows_what_lint_says_of_its_points(tmp_path: Path) -> None:
    in_step = small(replications=2).replace({"flows[0].start": "0 s", "flows[0].rtt": "80 ms"})
    done = elephan.sweep(in_step, over={"links[0].buffer": ["9 packets", "10 packets"]}, store=tmp_path / "store")
    done.write(str(tmp_path / "out"))  # a text does for a folder
    shown = read(report(tmp_path / "out", tmp_path / "s.html").read_text()).all("section", id="warnings")[0].text
    assert "all 2 are the same" in shown
    assert "deterministic-replications; 2 of the points" in shown


def test_a_sweep_can_be_run_again_from_its_page(html: Callable[[str], str]) -> None:
    text = read(html("sweep")).all("section", id="reproduce")[0].all("code")[0].text
    again = tomllib.loads(text)
    assert again["base"] == "base.toml"
    assert again["over"] == {"links[0].buffer": ["10 packets", "20 packets", "200 packets"], "flows[0].count": [1, 4]}


def test_a_large_sweep_still_fits(tmp_path: Path) -> None:
    document = swept([f"{n} packets" for n in range(1, 61)], list(range(1, 51)))
    text = report(folder_of(tmp_path / "s", document, "sweep.json"), tmp_path / "s.html").read_text()
    assert len(text.encode()) < MOST_BYTES
    assert "The first 1,000 of 3,000 rows; all are in points.parquet." in text


def test_claims_can_be_filtered_by_verdict_paper_and_kind(html: Callable[[str], str]) -> None:
    page = read(html("reproduce"))
    keys = [row.attributes["data-keys"].split("\x1f") for row in page.all("tr") if "data-keys" in row.attributes]
    assert keys == [[c["verdict"], c["paper"], c["kind"], c["origin"]] for c in CLAIMS]
    assert page.all("p", class_="headline")[0].text == "2 statements: 1 met and 1 not run"
    rows = tables(page)
    assert rows["p1"][0][6:8] == ["0.92", "0.924 ± 0.008"]
    assert rows["Why numbers are not met"][0][-1].endswith(": 0.5 (not as it must be)")
    assert [row[-1] for row in rows["Values that are not stated"]] == [""] or len(
        rows["Values that are not stated"]
    ) == 1
    assert rows["Claims by paper and verdict"] == [
        ["p1", "1", "1", "0", "0", "0", "0", "0"],
        ["p2", "0", "0", "0", "0", "0", "0", "1"],
    ]


def test_a_page_of_shortened_runs_says_that_they_ran_and_what_changed(tmp_path: Path) -> None:
    claims = [CLAIMS[0] | {"verdict": verdict, "id": verdict} for verdict in ("pass", "ran")]
    changed = [{"id": "ran", "was": "pass", "now": "ran"}]
    document = reproduced(claims, quick=True, changed=changed)
    page = read(report(folder_of(tmp_path / "q", document, "reproduce.json"), tmp_path / "q.html").read_text())
    assert page.all("p", class_="headline")[0].text == "2 statements: 1 met and 1 ran"
    assert "ran: ran, was pass" in page.all("main")[0].text
    assert [row[1] for row in tables(page)["p1"]] == ["pass", "ran"]
    assert "elephan reproduce p1 --quick --out" in page.all("section", id="reproduce")[0].all("code")[0].text


@pytest.mark.parametrize(
    ("verdicts", "tone", "named"),
    [
        (("pass", "deviation"), "good", ""),
        (("pass", "ran"), "plain", ""),
        (("pass", "ran", "fail"), "bad", "; not met: p1-fail"),
        (("pass", "fail", "fail", "fail", "fail"), "bad", ""),
    ],
)
def test_a_claim_that_is_not_met_is_named_and_is_no_success(
    tmp_path: Path, verdicts: tuple[str, ...], tone: str, named: str
) -> None:
    claims = [CLAIMS[0] | {"verdict": verdict, "id": f"p1-{verdict}"} for verdict in verdicts]
    folder = folder_of(tmp_path / "q", reproduced(claims), "reproduce.json")
    page = read(report(folder, tmp_path / "q.html").read_text())
    (answer,) = page.all("section", id="answer")
    assert answer.attributes["class"].split() == ["answer", tone]
    headline = page.all("p", class_="headline")[0].text
    assert headline.endswith(named)
    assert ("Not met: p1-fail (92 % at 1250 packets)." in answer.text) == ("fail" in verdicts)


def test_the_legend_of_a_picture_names_what_is_shaded(html: Callable[[str], str]) -> None:
    page = read(html("run"))
    bands = [item.text for item in page.all("li", class_="band")]
    assert bands
    assert set(bands) == {"warm-up, not counted"}


def test_words_at_lines_that_lie_close_together_stand_beside_each_other() -> None:
    from elephan.reports.drawing import document  # noqa: PLC0415 (Bokeh is slow to import)

    marks = tuple(Mark(at, f"{at:g} packets", "y", "wanted") for at in (100.0, 101.0, 200.0))
    line = Series("backlog", np.array([0.0, 1.0]), np.array([0.0, 220.0]))
    figure = Figure("backlog", "Backlog", "It rises.", Axis("time", "s"), Axis("backlog", "packets"), (line,), marks)
    labels = re.findall(r'"text": "([^"]* packets)"', json.dumps(document([figure])))
    assert sorted(labels) == ["100 packets, 101 packets", "200 packets"]


def test_results_in_python_give_pages_too(tmp_path: Path) -> None:
    result = elephan.run(small(replications=2))
    page = read(report(result, tmp_path / "run.html").read_text())
    # Without samples there are no pictures, but the numbers are there.
    assert not page.all("figure")
    assert "Links, with 95 % intervals" in tables(page)
    answer = elephan.size(small(), "utilization=0.8", model_only=True)
    page = read(report(answer, tmp_path / "size.html").read_text())
    assert "by a model, not simulated" in page.all("p", class_="sentence")[0].text


def test_sweeps_in_python_and_stores_give_pages(tmp_path: Path) -> None:
    over = {"links[0].buffer": ["250 packets", "25 packets"]}
    with Store(tmp_path / "store") as store:
        done = sweep(small(replications=2), over=over, store=store)
    page = read(report(done, tmp_path / "sweep.html").read_text())
    assert [row[0] for row in tables(page)["Points, with 95 % intervals"]] == over["links[0].buffer"]
    used = [point.document["links"][0]["utilization"]["mean"] for point in done.points]
    assert numbers(page, "Points, with 95 % intervals", 1) == pytest.approx([100 * u for u in used])
    page = read(report(tmp_path / "store", tmp_path / "store.html").read_text())
    assert page.all("p", class_="headline")[0].text == "2 runs"
    data = json.loads(page.all("script", id="explorers")[0].text)[0]
    assert data["axes"][0]["values"] == ["25 packets", "250 packets"]


def test_a_store_is_shown_with_what_the_shards_of_a_sweep_left_there(tmp_path: Path) -> None:
    for part in ("1/2", "2/2"):
        sweep(small(duration="0.4 s", warmup="0.1 s"), over={"seed": [1, 2]}, store=tmp_path / "store", shard=part)
    page = read(report(tmp_path / "store", tmp_path / "store.html").read_text())
    assert page.all("p", class_="headline")[0].text == "2 runs"


def test_a_long_run_still_fits(tmp_path: Path) -> None:
    many = small(duration="100 s").replace({"flows[0].count": 40, "record": {"every": "5 ms"}})
    result = elephan.run(many, series=True)
    text = report(result, tmp_path / "run.html").read_text()
    # 2 series of 40 flows of 20,000 samples, and 3 of the link.
    assert len(text.encode()) < MOST_BYTES


@pytest.mark.parametrize("theme", THEMES)
def test_text_stands_out_in_both_themes(theme: str) -> None:
    colours = THEMES[theme]
    for behind in ("paper", "card"):
        for text in ("ink", "muted", "accent", "good", "bad"):
            # WCAG 2.2, 1.4.3, level AA.
            assert contrast(colours[text], colours[behind]) >= 4.5, (text, behind)
        # 1.4.11: borders of controls.
        assert contrast(colours["control"], colours[behind]) >= 3.0
    assert contrast(colours["ink"], colours["bad-soft"]) >= 4.5
    assert contrast(colours["accent"], colours["accent-soft"]) >= 4.5
    if theme == "dark":
        for series in ("blue", "vermilion", "green", "purple", "orange", "sky"):
            assert contrast(colours[series], colours["card"]) >= 4.5, series


def test_an_unknown_folder_is_one_line(elephan: Command, tmp_path: Path) -> None:
    done = elephan("report", tmp_path)
    assert done.code == 2
    assert done.err.startswith(
        f"{tmp_path}: holds no result; looked for run.json, sweep.json, compare.json, size.json, comparison.json"
    )
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())
    assert elephan("report", tmp_path / "none").err.startswith(f"{tmp_path / 'none'}: there is no such folder")


@pytest.mark.parametrize("text", ["{", "[]", '{"run": {}}'])
def test_a_damaged_document_is_one_line(elephan: Command, tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    (tmp_path / "scenario.toml").write_text(EXAMPLE)
    done = elephan("report", tmp_path)
    assert done.code == 2
    assert done.err.startswith(f"{tmp_path / 'run.json'}: ")
    assert done.err.count("\n") == 1


def test_the_command_writes_beside_the_result_unless_told(
    elephan: Command, folders: dict[str, Path], tmp_path: Path
) -> None:
    done = elephan("report", folders["model"])
    assert done.code == 0
    assert done.err == f"wrote {folders['model'] / 'report.html'}\n"
    done = elephan("report", folders["model"], "--out", tmp_path / "x.html", "--json")
    page = tmp_path / "x.html"
    assert json.loads(done.out) == {"format": 1, "page": str(page), "bytes": page.stat().st_size}
    assert elephan("report", folders["model"], "--out", tmp_path).code == 2


def _every(node: Node) -> list[Node]:
    return [node, *(found for child in node.children for found in _every(child))]


def test_intervals_of_a_run_end_at_the_limits_of_their_quantity_and_one_flow_has_no_fairness(tmp_path: Path) -> None:
    elephan.run(small(**{"flows[0].count": 1, "duration": "2 s", "warmup": "0 s"})).write(tmp_path / "one")
    file = tmp_path / "one" / "run.json"
    document = json.loads(file.read_text())
    document["links"][0]["utilization"] = {"mean": 0.98, "ci95": 0.05}
    file.write_text(json.dumps(document))
    text = report(tmp_path / "one", tmp_path / "one.html").read_text()
    assert "98 (93 to 100)" in text
    assert "Jain" not in text


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("run", []),
        ("run", ["--store", "kept"]),
        ("size", ["--target", "utilization=0.5", "--model-only"]),
        ("sweep", ["--over", "flows[0].count=1,2", "--store", "kept"]),
        ("compare", ["--no-testbed"]),
    ],
)
def test_the_title_of_a_page_says_what_was_set(
    elephan: Command, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, options: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    changes = {"links[0].buffer": "9 packets", "flows[0].rtt": "50 ms", "replications": 2}
    words = [word for place, value in changes.items() for word in ("--set", f"{place}={value}")]
    assert elephan(verb, small, *options, *words, "--out", "out", "-q").code in (0, 1)
    assert elephan("report", "out", "--out", "page.html").code == 0
    (title,) = re.findall("<h1>(.*?)</h1>", Path("page.html").read_text())
    for place, value in changes.items():
        assert f"{place} = {value}" in title
    # Its picture, drawn again from the folder, says the same.
    if verb in ("run", "size"):
        drawn = draw(load(Path("out")), tmp_path / "drawn", endings=(".svg",))
        assert "links[0].buffer = 9 packets" in drawn[0].read_text()
    # The folder of a command without --set has the title of its file alone.
    elephan(verb, small, *options, "--out", "plain", "-q")
    elephan("report", "plain", "--out", "page.html")
    assert " = " not in re.findall("<h1>(.*?)</h1>", Path("page.html").read_text())[0]
