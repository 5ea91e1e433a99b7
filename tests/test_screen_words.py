"""Words of screens beside their numbers: the measured thing, changed settings, and the way to what is left out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from matplotlib.figure import Figure

import elephan
from elephan import Scenario
from elephan.catalog import catalog
from elephan.cli.columns import LINES
from elephan.cli.no_tc import LINUX, why_no_tc
from elephan.cli.progress import ProgressLine, SweepProgressReporter
from elephan.cli.sweep_screen import scale_of
from elephan.cli.tables import cut_table
from elephan.plots.style import TITLE
from elephan.scenario import EXAMPLE
from elephan.sizing import limit_words
from elephan.sizing.limits import full_beside
from elephan.sweeps.columns import SweepColumn
from elephan.sweeps.progress import SweepProgress

if TYPE_CHECKING:
    from conftest import Command

WIDTHS = (60, 80)

BOTH_WAYS = """
title = "Both ways over a line with a buffer of 20 packets"
duration = "3 s"
warmup = "1 s"
replications = 2
[[links]]
name = "up"
rate = "10 Mbit/s"
buffer = "20 packets"
[[links]]
name = "down"
rate = "10 Mbit/s"
buffer = "20 packets"
[[flows]]
name = "download"
count = 2
path = ["down"]
rtt = "20 ms"
[[flows]]
name = "upload"
count = 2
path = ["up"]
rtt = "20 ms"
"""


@pytest.fixture
def both(tmp_path: Path) -> Path:
    path = tmp_path / "both.toml"
    path.write_text(BOTH_WAYS)
    return path


def joined(text: str) -> str:
    return " ".join(text.split())


def fits(out: str, width: int) -> None:
    """Check that a screen fits; a line for Linux is to be copied."""
    lines = out.splitlines()
    assert max(len(line) for line in lines if "tc qdisc" not in line) <= width, out
    # Below 80 columns a sentence may take a line more than a screen has.
    assert len(lines) <= LINES + 2 * (width < 80), out


SIZED = ("--target", "utilization=0.6", "--precision", "0.5", "-q")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_size_names_the_other_full_link_and_the_command_that_sizes_it(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, both: Path, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    out = elephan("size", both, *SIZED).out
    assert "down is full, too: this command with --link down sizes it." in out
    fits(out, width)
    full = elephan("size", both, *SIZED, "--link", "down", "--details").out
    assert "up is full, too: this command with --link up sizes it." in " ".join(full.split())


def test_links_that_are_not_full_are_not_named() -> None:
    both = Scenario.from_text(BOTH_WAYS)
    assert full_beside(both.network, 0) == ("down",)
    assert full_beside(both.replace({"links[down].rate": "1 Gbit/s"}).network, 0) == ("down",)
    for changes in (
        {"flows[download].access": {"rate": "1 Mbit/s"}},
        {"flows[download].traffic": {"kind": "poisson", "rate": "1 Mbit/s"}},
        {"links[down].policer": {"rate": "1 Mbit/s", "burst": "20 kB"}},
    ):
        assert full_beside(both.replace(changes).network, 0) == (), changes


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_of_variants_that_meet_no_target_are_explained(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, both: Path, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    words = ("size", both, "--target", "utilization=0.9,delay=0.01ms", "--precision", "0.5", "-q")
    for more, said in (
        (("--laws", "reno,cubic"), "or not met by any; buffer: to deploy, or the nearest"),
        (("--queues", "drop-tail,codel"), "or not met by any; the rest: with 17 packets (1 BDP)"),
    ):  # fmt: skip
        out = elephan(*words, *more).out
        assert "not met" in out
        assert f"needs: smallest buffer, {said}" in joined(out)
        # The targets stand in the sentence once, and a value that misses one is not rounded to it.
        assert joined(out).count("utilization >= 0.9 and delay <= 0.01 ms") == 1
        fits(out, width)
    out = elephan("size", both, *SIZED, "--laws", "reno,cubic").out
    assert "not met" not in out
    assert "buffer: to deploy" in out


@pytest.mark.parametrize("width", WIDTHS)
def test_why_there_is_no_line_for_linux_names_the_settings(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, both: Path, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    said = "Linux: no line, since tc cannot set count = wait and gentle = true of red (Linux has classic and false)"
    for words in (("--set", "links[up].queue=red"), ("--queues", "red,xcp", "--laws", "reno")):
        out = elephan("size", both, *SIZED, *words).out
        assert "tc has no words" not in out
        assert said in joined(out), out


@pytest.mark.parametrize("name", [card["name"] for card in catalog("queues")])
def test_every_queue_has_a_line_for_linux_or_a_reason(name: str) -> None:
    scenario = Scenario.from_text(EXAMPLE).replace({"links[0].queue": name})
    if name not in LINUX:
        assert scenario.links[0]["tc"] is None
        assert why_no_tc(scenario, 0) == f"Linux has no discipline that does what {name} does here"
        return
    # With the values that Linux has, there is a line; each other value of a setting takes it away.
    as_linux = scenario.replace({"links[0].queue": {"discipline": name, **LINUX[name]}})
    assert as_linux.links[0]["tc"] is not None
    unlike = {"gentle": True, "count": "wait", "least_backlog": 2.0, "looks": "arrivals", "mark_ecnth": 0.2,
              "max_burst": "100 ms", "ecn_threshold": "5 packets", "scheduler": "time-shifted", "decide": "recur",
              "ramp": "1 ms"}  # fmt: skip
    for key in LINUX[name]:
        changed = as_linux.replace({f"links[0].queue.{key}": unlike[key]})
        assert changed.links[0]["tc"] is None, key
        assert f"tc cannot set {key} = " in why_no_tc(changed, 0)


def test_why_there_is_no_line_names_what_the_link_does() -> None:
    scenario = Scenario.from_text(EXAMPLE)
    for changes, said in (
        ({"links[0].policer": {"rate": "2 Mbit/s", "burst": "20 kB"}}, "a policer of the link also affects"),
        ({"links[0].loss": {"random": 0.01}}, "random loss of the link also affects"),
        ({"links[0].buffer": "unlimited"}, "the buffer has no limit"),
        ({"links[0].queue": "sfq", "links[0].buffer": "1000 packets"}, "sfq of Linux holds at most 127 packets"),
        ({"links[0].queue": "codel", "links[0].buffer": "100 kB"}, "codel of Linux counts packets"),
        ({"links[0].queue": {"discipline": "sfq", "perturb": "1500 ms"}}, "does not accept one of these numbers: "),
    ):
        changed = scenario.replace(changes)
        assert changed.links[0]["tc"] is None
        assert said in why_no_tc(changed, 0)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_total_above_the_rate_of_the_link_says_what_it_is_of(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, both: Path, tmp_path: Path, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    words = ("sweep", both, "--over", "seed=1,2", "--store", tmp_path / "runs", "-q")
    out = elephan(*words, "--columns", "utilization,total").out
    assert "(total: of all flows, over 2 links; the rate of up is less)" in joined(out)
    fits(out, width)
    # Of one direction that sends little, the total is below the rate of the other.
    little = ("--set", 'flows[upload].traffic={kind="ping"}', "--set", "links[down].rate=5 Mbit/s")
    assert "of all flows" not in elephan(*words, "--columns", "total", *little).out


def test_the_unit_of_a_column_suits_all_of_its_values() -> None:
    column = SweepColumn("goodput", None, 0, "bulk")
    slow, fast = ({column.label: {"mean": mean, "ci95": None}} for mean in (1e5, 2e9))
    assert scale_of(column, [slow]) == (1e3, "kbit/s")
    # The first point decides no more than the others.
    assert scale_of(column, [slow, fast]) == scale_of(column, [fast, slow]) == (1e6, "Mbit/s")


def test_metrics_have_units_that_suit_them(elephan: Command, both: Path) -> None:
    out = elephan("run", both, "-q", "--metric", "goodput", "--metric", "queueing_delay").out
    table = out.partition("metric")[2]
    assert re.search(r"goodput +upload +\d[\d.]*(±[\d.]+)? +Mbit/s", table), out
    assert re.search(r"queueing_delay +up +\d[\d.]*(±[\d.]+)? +ms", table), out
    assert "_bps" not in table


@pytest.mark.parametrize("width", WIDTHS)
def test_the_utilization_of_a_policed_link_says_what_it_is_of(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, both: Path, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    said = "up: utilization is of its rate, 10 Mbit/s; its policer lets 2 Mbit/s through"
    words = ("run", both, "-q", "--set", 'links[up].policer={rate="2 Mbit/s", burst="20 kB"}')
    for more in ((), ("--details",)):
        out = elephan(*words, *more).out
        assert said in joined(out)
        used = next(link for link in json.loads(elephan(*words, "--json").out)["links"] if link["name"] == "up")
        # Of the policed rate it would be nearly 1.
        assert used["utilization"]["mean"] < 0.4
    assert "of its rate" not in elephan("run", both, "-q").out


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("size", *SIZED),
        ("size", *SIZED, "--find", "rate"),
        ("size", *SIZED, "--laws", "reno,cubic"),
        ("sweep", "--over", "seed=1,2", "--store", "STORE", "-q"),
        ("sweep", "--over", "seed=1,2", "--store", "STORE", "--dry-run"),
        ("compare", "--no-testbed", "-q"),
        ("estimate",),
    ],
    ids=" ".join,
)
def test_what_is_set_stands_beside_a_title(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, both: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    verb, *rest = (str(tmp_path / "runs") if word == "STORE" else word for word in words)
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        for details in ((), ("--details",)) if verb != "estimate" else ((),):
            out = joined(elephan(verb, both, *rest, *details, "--set", "links.0.buffer=30 packets").out)
            assert "Both ways over a line with a buffer of 20 packets, but links[0].buffer = 30 packets" in out
    assert ", but " not in joined(elephan(verb, both, *rest).out)
    # A title that is set is the title.
    assert joined(elephan(verb, both, *rest, "--set", "title=Thirty").out).startswith("Thirty")


def test_tables_and_lists_stand_beside_a_title_as_a_scenario_has_them(elephan: Command, both: Path) -> None:
    shaper = '{ rate = "900 kbit/s", burst = "3 kB" }'
    settings = ("--set", f"links[0].shaper={shaper}", "--set", 'flows[0].start=["1 s"]')
    said = joined(elephan("estimate", both, *settings).out)
    assert f'but links[0].shaper = {shaper}, flows[0].start = ["1 s"]' in said


def test_a_run_of_a_store_and_the_document_keep_the_title_of_the_file(
    elephan: Command, both: Path, tmp_path: Path
) -> None:
    words = ("run", both, "-q", "--set", "links[0].buffer=30 packets", "--store", tmp_path / "runs")
    document = json.loads(elephan(*words, "--json").out)
    assert document["run"]["scenario"] == "Both ways over a line with a buffer of 20 packets"


@pytest.mark.parametrize("width", WIDTHS)
def test_labels_are_asked_for_by_the_names_of_their_columns(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, both: Path, tmp_path: Path, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    store, over = ("--store", tmp_path / "runs"), ("--over", "links[up].buffer=20 packets,30 packets")
    assert elephan("sweep", both, *over, "--over", "flows[download].count=1,2", *store, "-q").code == 0
    whole = elephan("store", "ls", *store, "--where", "links[up].buffer=30 packets", "--json")
    short = elephan("store", "ls", *store, "--where", "buffer=30 packets", "--json")
    assert whole == short
    assert len(json.loads(short.out)) == 2
    listed = elephan("store", "ls", *store).out.splitlines()[0]
    head = re.search(r"\S*buffer", listed)
    assert head is not None, listed
    assert elephan("store", "ls", *store, "--where", f"{head[0]}=30 packets", "--json") == short
    exported = elephan("store", "export", *store, "--where", "buffer=30 packets", "--columns", "labels").out
    assert exported.count("30 packets") == 2
    assert "would remove 2 runs" in elephan("store", "gc", *store, "--where", "buffer=30 packets", "--dry-run").out
    wrong = elephan("store", "ls", *store, "--where", "bufer=30 packets")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)
    # A last part that two labels have is none of theirs.
    more = ("--over", "links[down].buffer=20 packets,30 packets")
    assert elephan("sweep", both, *more, *store, "-q").code == 0
    assert elephan("store", "ls", *store, "--where", "buffer=30 packets").code == 2


def test_a_table_that_is_cut_names_or_counts_the_other_rows() -> None:
    rows = [(f"name{i}", f"title {i}") for i in range(30)]
    for width in WIDTHS:
        for room in range(4, 40):
            lines = cut_table(("name", "title"), rows, room, "--details", width)
            assert len(lines) <= room
            assert max(map(len, lines)) <= width
            last = " ".join(lines)
            if room >= 31:
                assert "--details" not in last
            elif "(also" in last:
                assert all(name in last for name, _ in rows)
            else:
                shown = sum(line.startswith("name") for line in lines) - 1
                assert f"({30 - shown} more: --details)" in last


@pytest.mark.parametrize("width", WIDTHS)
def test_a_query_shows_a_screen_of_rows_and_counts_the_others(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, both: Path, tmp_path: Path, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    store = ("--store", tmp_path / "runs")
    assert elephan("sweep", both, "--over", "seed=1..10:10lin", *store, "-q", "--replications", "1").code == 0
    sql = "SELECT name, utilization, 'row' AS word FROM links ORDER BY row"
    done = elephan("store", "query", sql, *store)
    assert len(done.out.splitlines()) <= LINES
    shown = done.out.count(" row\n")
    assert 5 <= shown < 20
    assert done.err == f"20 rows, {20 - shown} more with --limit 0; --json has all\n"
    for limit, rows in ((0, 20), (3, 3), (30, 20)):
        assert elephan("store", "query", sql, *store, "--limit", limit).out.count(" row\n") == rows
    assert len(json.loads(elephan("store", "query", sql, *store, "--json").out)) == 20
    # A row with more columns than a screen has lines.
    wide = elephan("store", "query", "SELECT * FROM results", *store)
    assert len(wide.out.splitlines()) <= LINES
    assert re.search(r"\(\d+ columns, all of them with\s+--limit 0 or\s+--json", wide.out), wide.out
    assert "9 more with --limit 0" in wide.err
    assert "jain_maxmin" in elephan("store", "query", "SELECT * FROM results", *store, "--limit", "1").out


@pytest.mark.parametrize("verb", ["run", "sweep"])
def test_warnings_fit_a_terminal_and_are_a_line_each_in_a_log(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, both: Path, tmp_path: Path, verb: str
) -> None:
    words = [verb, both, "--set", "links[up].buffer=1 packets"]
    words += ["--over", "seed=1,2", "--store", tmp_path / "runs"] if verb == "sweep" else []
    monkeypatch.delenv("COLUMNS", raising=False)
    log = [line for line in elephan(*words).err.splitlines() if line.startswith("warning: ")]
    assert max(map(len, log)) > 80
    for width in WIDTHS:
        monkeypatch.setenv("COLUMNS", str(width))
        lines = elephan(*words).err.splitlines()
        assert max(len(line) for line in lines if not line.startswith(("replications", "sweep"))
                   and "store" not in line and " " in line.strip()) <= width  # fmt: skip
        # Nothing is lost, and each begins at the margin.
        for line in log:
            assert line in joined("\n".join(lines))
        assert sum(line.startswith("warning: ") for line in lines) == len(log)


def test_an_interrupted_sweep_says_whether_it_goes_on_or_starts_again() -> None:
    display = SweepProgressReporter(ProgressLine("sweep", quiet=True))
    assert display.stopped() == "interrupted: nothing was run; the same command starts from the beginning"
    for done, failed, said in (
        (0, 0, "0 of 5 points kept; the same command starts from the beginning"),
        (1, 1, "0 of 5 points kept; the same command starts from the beginning"),
        (2, 1, "1 of 5 points kept; the same command goes on from there"),
    ):
        display(SweepProgress(done, 5, 0, failed, 0.0, 1.0, 0.0, 0))
        assert display.stopped() == f"interrupted: {said}"


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_of_links_and_groups_come_before_what_details_have_too(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, both: Path, width: int
) -> None:
    """A title and changes that take three lines leave room for both links and both groups."""
    monkeypatch.setenv("COLUMNS", str(width))
    title = "title=A title that is so long that it takes more than a line of this terminal, as titles of papers do"
    out = elephan("run", both, "-q", "--set", title).out
    fits(out, 80)
    for row in ("up ", "down ", "download: 2 reno", "upload: 2 reno"):
        assert re.search(rf"^{row}", out, re.MULTILINE), out
    if width == 60:
        assert "(Jain's index, " in out


@pytest.mark.parametrize("width", WIDTHS)
def test_variants_of_models_that_were_not_checked_say_so(
    elephan: Command, monkeypatch: pytest.MonkeyPatch, both: Path, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    out = elephan("size", both, "--target", "utilization=0.9", "--model-only", "--laws", "reno,cubic", "-q").out
    assert "?" in out
    assert "needs: smallest buffer; ?: by models that were not checked on such links" in joined(out)
    fits(out, width)


@pytest.mark.parametrize("verb", ["run", "lint", "estimate", "size"])
def test_a_sweep_in_the_place_of_a_scenario_is_called_one(elephan: Command, tmp_path: Path, verb: str) -> None:
    sweep = tmp_path / "sweep.toml"
    sweep.write_text('base = "both.toml"\n[over]\nseed = [1, 2]\n')
    (tmp_path / "both.toml").write_text(BOTH_WAYS)
    done = elephan(verb, sweep, *(["--target", "utilization=0.9"] if verb == "size" else []))
    if verb == "estimate":
        assert done.code == 0
    else:
        assert done.code == 2
        assert done.err == f"{sweep}: is a sweep, not a scenario; elephan sweep runs it\n"


def test_an_export_refuses_a_suffix_without_a_format(elephan: Command, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert elephan("run", write(tmp_path), "--store", store, "-q").code == 0
    done = elephan("store", "export", "--store", store, "--out", tmp_path / "week.xlsx")
    assert done.code == 2
    assert "no format has the suffix .xlsx; give .csv, .parquet, .json, or --format" in done.err
    assert not (tmp_path / "week.xlsx").exists()


def write(folder: Path) -> Path:
    path = folder / "short.toml"
    path.write_text(BOTH_WAYS)
    return path


def test_the_classic_queue_of_dualpi2_holds_its_target_at_its_share_of_the_rate(elephan: Command, both: Path) -> None:
    # 20 packets of 1,500 bytes take 24 ms at the rate of the link, and 240 ms at a tenth of it.
    queue = ["--set", 'links[1].queue={ discipline = "dualpi2", target = "%s" }']
    said = [elephan("lint", both, queue[0], queue[1] % target).out for target in ("15 ms", "100 ms", "300 ms")]
    assert ["never acts on it" in text for text in said] == [False, False, True]


def test_one_of_a_thing_is_in_the_singular() -> None:
    """Numbers of things in texts are formatted by `elephan.units.count`."""
    amounts = [limit_words.said(*given) for given in (("flows", 1), ("red", 1), ("flows", 1200))]
    assert amounts == ["1 flow", "1 packet", "1,200 flows"]
    nouns = "variants|buffers|amounts|replications|columns|points|flows|links|rows|values|files|lines|runs"
    counted = re.compile(rf"\{{(?:len\([^{{}}]*\)|[^{{}}]*\[[^{{}}]*\]|[a-z_.]*)\}} (?:{nouns})\b")
    # Where a condition has excluded one, or a limit is far above one.
    excluded = re.compile(
        r"> 1|== 1 |low == high|count <= most|suspects\[1:\]|meeting|len\(named\)|message =|MOST|min\(|cell\."
        r"|which two to read|columns are called"
        r"|document\['runs'\]|(?:at most|more than) \{|[,(] \{(?:columns|low|found:g|percent)"
    )
    package = Path(elephan.__file__).parent
    found = [
        f"{file.relative_to(package)}: {line.strip()}"
        for file in sorted(package.rglob("*.py"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if counted.search(line) and not excluded.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("words", "pictures"),
    [
        (("run", "--plot"), {"run.png", "distributions.png"}),
        (("size", *SIZED, "--model-only"), {"size.png"}),
        (("sweep", "--over", "seed=1,2", "--series", "--store", "STORE"), {"sweep.png", "over-time.png"}),
        (("compare", "--no-testbed"), {"compare.png"}),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
def test_what_is_set_stands_beside_the_title_of_a_picture(
    elephan: Command,
    monkeypatch: pytest.MonkeyPatch,
    both: Path,
    tmp_path: Path,
    words: tuple[str, ...],
    pictures: set[str],
) -> None:
    titles: list[str] = []
    write_figure = Figure.savefig

    def seen(figure: Figure, path: Path, **how: Any) -> None:
        titles.append(figure.get_suptitle())
        write_figure(figure, path, **how)

    monkeypatch.setattr(Figure, "savefig", seen)
    verb, *rest = (str(tmp_path / "runs") if word == "STORE" else word for word in words)
    said = "Both ways over a line with a buffer of 20 packets, but links[0].buffer = 30 packets, seed = 3"
    settings = ("--set", "links.0.buffer=30 packets", *(() if verb == "sweep" else ("--set", "seed=3")))
    elephan(verb, both, *rest, "-q", *settings, "--out", tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").rglob("*.png")} >= pictures
    assert len(titles) == 2 * len(pictures)
    assert max(len(line) for text in titles for line in text.splitlines()) <= TITLE
    said = said.removesuffix(", seed = 3") if verb == "sweep" else said
    assert all(said in " ".join(text.split()) for text in titles)
