"""`elephan web`: what the page serves, its answers and those of the command line, and who is refused."""

import http.client
import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import elephan as package
from conftest import PATIENCE_S, Command
from elephan.errors import InputError
from elephan.pictures.figure import Axis, Figure, Mark
from elephan.scenario import Scenario
from elephan.store import Store
from test_extras import without
from webs import HOST, SHORT, TOKEN, Page, page_in, serving, until

from elephan.web import hosts_of, listen  # isort: skip (webs skips the module if the extra is missing)
from elephan.web import work  # isort: skip
from elephan.web.app import STATIC  # isort: skip
from elephan.web.asking import read_ask, read_text  # isort: skip
from elephan.web.cards import ALL, cards, fill, presets  # isort: skip
from elephan.web.comparing import best_of, verdict  # isort: skip
from elephan.web.export import export_site  # isort: skip
from elephan.web.jobs import MOST_WAITING, Job  # isort: skip
from elephan.web.views import figure_views  # isort: skip

LONG = (
    SHORT.replace("4 s", "10000 s").replace("10 Mbit/s", "100 Mbit/s").replace("replications = 2", "replications = 1")
)
CODE = Path(work.__file__).parent


def refusal(answer: Any) -> str:
    """Return the message of a refused request."""
    return str(answer.json()["error"]["message"])


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with page_in(tmp_path_factory.mktemp("web") / "store") as found:
        yield found


def test_zero_is_a_value_of_marks_and_axes() -> None:
    marks = (Mark(0.0, "alike", "y"), Mark(None, "", role="shade", low=0.0, high=float("inf")))
    (view,) = figure_views((Figure("f", "F", "", Axis("x", low=0.0), Axis("y"), (), marks),))
    assert (view["x"]["low"], "high" in view["x"]) == (0.0, False)
    assert view["marks"] == [
        {"at": 0.0, "label": "alike", "axis": "y", "role": "rule"},
        {"axis": "x", "role": "shade", "low": 0.0},
    ]


def test_the_page_and_its_files_are_small_and_load_nothing_else(page: Page) -> None:
    names = ["", "colours.css", *STATIC, "api/page", "api/schema"]
    answers = {name: page.get(name) for name in names}
    assert {answer.status_code for answer in answers.values()} == {200}
    assert sum(len(answer.content) for answer in answers.values()) < 1_500_000
    for name, answer in answers.items():
        assert "https://" not in answer.text.replace("https://json-schema.org", ""), name
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
    assert "<script>" not in answers[""].text
    assert "style=" not in answers[""].text


def test_the_code_stays_small_and_readable() -> None:
    for pattern, comment, most in (("*.py", "#", 2000), ("static/*.js", "//", 1000)):
        lines = [line for path in CODE.glob(pattern) for line in path.read_text(encoding="utf-8").splitlines()]
        code = [line for line in lines if line.strip() and not line.strip().startswith(comment)]
        assert len(code) <= most, pattern
        assert max(map(len, lines)) <= 120, pattern


@pytest.mark.parametrize(
    ("headers", "path", "status"),
    [
        ({}, f"/{TOKEN}/", 200),
        ({}, "/another-token/", 404),
        ({}, f"/{TOKEN}", 404),
        ({}, "/", 404),
        ({"host": "evil.example"}, f"/{TOKEN}/", 421),
        ({"host": f"{HOST}:80"}, f"/{TOKEN}/", 421),
        ({"origin": "http://evil.example"}, f"/{TOKEN}/", 403),
        ({"origin": "null"}, f"/{TOKEN}/", 403),
        ({"origin": f"http://{HOST}"}, f"/{TOKEN}/", 200),
        ({"sec-fetch-site": "cross-site"}, f"/{TOKEN}/", 403),
        ({"sec-fetch-site": "none"}, f"/{TOKEN}/", 200),
    ],
)
def test_a_request_needs_the_token_and_the_host_and_no_other_origin(
    page: Page, headers: dict[str, str], path: str, status: int
) -> None:
    assert page.client.get(path, headers=headers).status_code == status


def test_a_request_has_a_method_a_type_and_a_size(page: Page) -> None:
    path = f"/{TOKEN}/api/check"
    assert page.client.put(path, json={}).status_code == 405
    assert page.client.post(path, content="{}", headers={"content-type": "text/plain"}).status_code == 415
    assert page.post("api/check", {"text": "x" * 300_000}).status_code == 413
    wrong = page.client.post(path, content=b"[1]", headers={"content-type": "application/json"})
    assert refusal(wrong) == "must be a JSON object"

    def pieces() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * 10_000

    # Without Content-Length the bytes are counted as they come.
    sent = page.client.post(path, content=pieces(), headers={"content-type": "application/json"})
    assert sent.status_code == 413


def test_names_of_this_server() -> None:
    assert hosts_of("::1", 80) == ["[::1]:80", "localhost:80"]
    assert hosts_of("192.0.2.7", 80) == ["192.0.2.7:80"]
    with listen("127.0.0.1", None) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"--port: 127.0.0.1 port {port}: .*; give another port"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("name", cards())
def test_every_value_of_every_card_is_a_scenario(name: str) -> None:
    card = cards()[name]
    assert 4 <= len(card.controls) <= 6
    control, values = card.vary
    ends = [{own.name: end} for own in card.controls if own.choices is None for end in (own.low, own.high)]
    choices = [{own.name: choice} for own in card.controls if own.choices for choice in own.choices]
    for given in [{}, *card.presets.values(), *({control: value} for value in values), *ends, *choices]:
        filled = fill(card, given)
        base = Scenario.from_text(filled.text, name)
        for variant in filled.variants:
            base.replace(dict(variant.set))
    assert set(card.presets) <= set(presets())
    # What a card opens with, and its presets, are within the limits of the page.
    for given in [{}, *card.presets.values()]:
        work.check_cost([Scenario.from_text(fill(card, given).text)], card.view)
    if card.view == "compare":
        for given in [{}, *card.presets.values()]:
            filled = fill(card, {**given, "b": ALL})
            base = Scenario.from_text(filled.text)
            work.check_cost([base.replace(dict(variant.set)) for variant in filled.variants], card.view)


def test_there_are_twelve_questions() -> None:
    assert len(cards()) == 12
    assert {card.view for card in cards().values()} == {"curve", "limit", "run", "compare"}


def test_a_control_out_of_range_is_named(page: Page) -> None:
    answer = page.post("api/fill", {"kind": "run", "card": "bbr", "values": {"rate": 1e9}})
    assert answer.json() == {"error": {"place": "rate", "message": "must be 1 to 10000 Mbit/s"}}
    answer = page.post("api/fill", {"kind": "run", "card": "bbr", "values": {"rtte": 1}})
    assert refusal(answer) == 'there is no such control; did you mean "rtt"?'


def test_a_run_has_the_bytes_of_the_command_line(page: Page, tmp_path: Path, elephan: Command) -> None:
    sent, events = page.answer(kind="run", text=SHORT)
    assert sent["command"] == "elephan run scenario.toml --out run/"
    assert sent["files"] == {"scenario.toml": SHORT}
    last = events[-1]
    assert [event["state"] for event in events if event["state"] != "replications"][-1] == "final"
    assert events[0]["state"] == "preliminary"
    ours = page.get(f"files/{last['id']}/result.json").content
    (tmp_path / "scenario.toml").write_text(SHORT)
    kept = elephan("run", tmp_path / "scenario.toml", "--json", "--store", page.server.results.folder)
    assert ours == kept.out.encode()
    # Computed once more, everything but the time it took is the same.
    again = json.loads(elephan("run", tmp_path / "scenario.toml", "--json", "--quiet").out)
    found = json.loads(ours)
    for document in (again, found):
        assert document["run"].pop("wall_s") > 0
    assert json.dumps(found) == json.dumps(again)
    assert page.get(f"api/results/{last['id']}").json()["page"] == last["page"]


def test_a_preliminary_picture_is_the_beginning_of_the_final_one(page: Page) -> None:
    _, events = page.answer(kind="run", text=SHORT.replace("80 ms", "81 ms"))
    final = {f["name"]: f for s in events[-1]["page"]["sections"] for f in s["figures"]}["backlog"]["series"][0]
    early = [event for event in events if event["state"] == "preliminary"]
    assert [event["done"] for event in early] == sorted(event["done"] for event in early)
    for event in early:
        begun = {f["name"]: f for f in event["figures"]}["backlog"]
        assert begun["x"]["high"] == 4
        [line] = begun["series"]
        count = len(line["x"])
        assert (line["x"], line["y"]) == (final["x"][:count], final["y"][:count])


def test_a_sizing_has_the_numbers_of_the_command_line(page: Page, tmp_path: Path, elephan: Command) -> None:
    sent, events = page.answer(kind="curve", slot="curve", text=SHORT, target="utilization=0.8")
    measured = [event for event in events if event["state"] == "preliminary" and event["done"]]
    assert [event["done"] for event in measured] == sorted(event["done"] for event in measured)
    assert {figure["name"] for figure in measured[-1]["figures"]} == {
        "utilization",
        "queueing-delay-s",
        "loss-ratio",
        "goodput",
    }
    marks = next(f for f in measured[-1]["figures"] if f["name"] == "utilization")["marks"]
    assert {"BDP/√n", "wanted 0.8"} <= {mark.get("label") for mark in marks}
    last = events[-1]
    [answer] = [
        mark
        for section in last["page"]["sections"]
        for figure in section["figures"]
        if figure["name"] == "utilization"
        for mark in figure["marks"]
        if mark["role"] == "answer"
    ]
    assert answer["low"] <= answer["at"] <= answer["high"]
    (tmp_path / "scenario.toml").write_text(SHORT)
    words = sent["command"].split()[1:]
    document = json.loads(
        elephan(*[tmp_path / word if word == "scenario.toml" else word for word in words], "--json", "-q").out
    )
    ours = page.get(f"files/{last['id']}/result.json").json()
    for each in (document, ours):
        each.pop("wall_s")
        each["warnings"] = len(each["warnings"])
    assert ours == document
    assert page.get(f"files/{last['id']}/curve.parquet").content.startswith(b"PAR1")
    assert [words for _, words in last["downloads"]] == ["Report", "JSON", "Parquet: curve"]
    # A stored sizing has the picture of goodput, too, at the buffers that were seen while it was measured.
    again = page.get(f"api/results/{last['id']}").json()
    figures = {figure["name"]: figure for section in again["page"]["sections"] for figure in section["figures"]}
    seen = next(figure for figure in measured[-1]["figures"] if figure["name"] == "goodput")
    assert [line["name"] for line in figures["goodput"]["series"]] == ["bulk"]
    assert set(seen["series"][0]["x"]) <= set(figures["goodput"]["series"][0]["x"])


def test_two_variants_share_their_random_numbers(page: Page) -> None:
    texts = {"A": SHORT, "B": SHORT.replace("25 packets", "50 packets")}
    sent, events = page.answer(kind="compare", texts=texts)
    assert list(sent["files"]) == ["a.toml", "b.toml"]
    last = events[-1]
    rows = {row[0]: row[1:] for row in last["paired"]["rows"]}
    a, b = (
        package.run(Scenario.from_text(text)).to_json()["links"][0]["utilization"]["mean"] for text in texts.values()
    )
    shown = [float(cell) for cell in rows["utilization [%]"][:2]]
    # Shown with four digits.
    assert shown == [pytest.approx(100 * a, rel=1e-3), pytest.approx(100 * b, rel=1e-3)]
    assert last["page"]["sentence"].startswith("A uses ")
    assert "queueing delay" in last["page"]["headline"]
    assert page.get(f"api/results/{'/'.join(last['ids'])}").json()["paired"] == last["paired"]
    assert b"<h1>" in page.get(f"files/{'/'.join(last['ids'])}/report.html").content
    for texts in ({"A": SHORT, "B": SHORT}, {"A": SHORT, "B": SHORT.replace("= 2", "= 3", 1)}):
        assert refusal(page.post("api/jobs", {"tab": "a-tab-00", "kind": "compare", "texts": texts}))


def test_all_options_are_in_one_table_that_fills(page: Page) -> None:
    sent, events = page.answer(kind="compare", card="queue", values={"rate": 1, "flows": 1, "b": ALL})
    labels = [label for value, label in fill_choices("queue", "b").items() if value != ALL]
    assert sent["names"] == labels
    assert sent["command"].startswith("elephan sweep scenario.toml --over 'links[0].queue=drop-tail,codel,fq-codel")
    tables = [event["table"]["rows"] for event in events if event["state"] == "preliminary"]
    # A row for each option appears by a short run, and then the runs of all replications replace it.
    assert [len(rows) for rows in tables] == [*range(1, len(labels) + 1), *[len(labels)] * len(labels)]
    measured = [sum(row[-1] == "5" for row in rows) for rows in tables]
    assert measured == [*[0] * len(labels), *range(1, len(labels) + 1)]
    assert not any(cell.endswith(" best") for rows in tables[:-1] for row in rows for cell in row)
    last = events[-1]
    [section] = last["page"]["sections"]
    [table] = section["tables"]
    assert [row[0] for row in table["rows"]] == labels
    of = {head: {row[0]: row[i] for row in table["rows"]} for i, head in enumerate(table["heads"])}
    # The ping has a queue of its own there, and the upload a short one.
    assert [name for name, cell in of["mean round trip of ping [ms]"].items() if cell.endswith(" best")] == ["FQ-CoDel"]
    assert "FQ-CoDel is best in" in last["page"]["headline"]
    assert page.get(f"api/results/{'/'.join(last['ids'])}").json()["page"] == last["page"]
    assert page.get(f"api/results/{'/'.join(last['ids'][:2])}").json()["paired"]
    for wrong in (last["ids"][:1] * 2, last["ids"][:1] * 3, [*last["ids"], "0" * 64], last["ids"] * 9):
        assert page.get(f"api/results/{'/'.join(wrong)}").status_code == 404
    assert [words for _, words in last["downloads"]] == ["Report", *(f"{label}: JSON" for label in labels)]
    for address, words in last["downloads"]:
        assert page.get(address).status_code == 200, words


def fill_choices(card: str, control: str) -> dict[str, str]:
    """Return the choices of a control of a card."""
    return next(dict(own.choices or {}) for own in cards()[card].controls if own.name == control)


def test_the_best_is_decided_by_paired_differences_from_all_others() -> None:
    noisy = {"a": [10.0, 20.0, 30.0], "b": [11.0, 21.0, 31.0], "c": [15.0, 24.0, 36.0]}
    # The intervals of the means overlap widely, those of the differences exclude zero.
    assert best_of(noisy, "mean queueing delay [ms]") == "a"
    assert best_of(noisy, "goodput of one flow of bulk [Mbit/s]") == "c"
    assert best_of({**noisy, "d": [10.0, 20.0, 30.0]}, "loss [%]") == ""
    assert best_of({**noisy, "d": [9.0, 22.0, 28.0]}, "loss [%]") == ""
    assert best_of({"a": [100.0, 100.0], "b": [99.5, 99.5]}, "utilization [%]") == ""
    for unknown in ([], [9.0], [9.0, float("nan"), 9.0]):
        assert best_of({**noisy, "d": unknown}, "loss [%]") == ""


def test_the_headline_of_a_pair_says_what_is_decided_and_then_the_values() -> None:
    rows = [
        ["utilization [%]", "95.24", "99.9", "4.66 ± 0.2", "yes"],
        ["mean queueing delay [ms]", "12.34", "40.2", "27.9 ± 3", "yes"],
        ["loss [%]", "1", "2", "1 ± 0.1", "yes"],
        # Decided, but not by one hundredth.
        ["goodput of one flow of bulk [Mbit/s]", "4.7", "4.71", "0.01 ± 0.001", "yes"],
    ]
    assert verdict(["A: CUBIC", "B: Reno"], rows) == (
        "A: CUBIC is better in queueing delay; B: Reno is better in utilization; "
        "no clear difference in goodput of bulk",
        "A: CUBIC uses 95.2\u00a0% of the link, packets wait 12.3\u00a0ms and a flow of bulk gets 4.7\u00a0Mbit/s. "
        "B: Reno uses 99.9\u00a0% of the link, packets wait 40.2\u00a0ms and a flow of bulk gets 4.71\u00a0Mbit/s.",
    )
    pages = [*rows[:1], *rows[3:], ["time of a page, 95 % [s]", "1.3", "2.4", "1.1 ± 0.2", "yes"]]
    pings = [["mean round trip of ping [ms]", "31", "128", "97 ± 1", "yes"]]
    headline, _ = verdict(["A", "B"], pings)
    assert headline == "A is better in round trip of ping"
    headline, sentence = verdict(["A", "B"], pages)
    assert headline == "A is better in page times; B is better in utilization"
    assert sentence.endswith("B uses 99.9\u00a0% of the link and 95 % of the pages take at most 2.4\u00a0s.")
    unknown = [[*row[:-1], ""] for row in rows]
    assert verdict(["A", "B"], unknown)[0] == "No clear difference in utilization, queueing delay and goodput of bulk"


def test_the_reach_of_a_buffer(page: Page) -> None:
    _, events = page.answer(kind="limit", text=SHORT, target="utilization=0.5")
    assert events[-1]["page"]["kind"] == "What a buffer is enough for" or events[-1]["page"]["headline"]
    assert page.get(f"files/{events[-1]['id']}/result.json").json()["find"] == "rtt"
    assert [words for _, words in events[-1]["downloads"]] == ["Report", "JSON", "Parquet: limit"]
    for address, words in events[-1]["downloads"]:
        assert page.get(address).status_code == 200, words


def test_results_are_found_by_hash_alone(page: Page) -> None:
    _, events = page.answer(kind="run", text=SHORT.replace("80 ms", "82 ms"))
    found = events[-1]["id"]
    for name in ("report.html", "result.json", "scenario.toml", "flows.parquet", "links.parquet", "samples.parquet"):
        answer = page.get(f"files/{found}/{name}")
        assert answer.status_code == 200, name
        assert "attachment" in answer.headers["content-disposition"]
    for path in (
        f"files/{found}/run.json",
        f"files/{found}/../../index.sqlite",
        f"files/{found[:12]}/result.json",
        "files/..%2f..%2fetc/passwd",
        f"files/{found}/%2e%2e%2frun.json",
        f"files/{'0' * 64}/result.json",
        "api/results/x",
        "cards.toml",
        "../cards.toml",
        "api/jobs/nosuch",
        "api/page/",
    ):
        assert page.get(path, follow_redirects=False).status_code == 404, path


@pytest.mark.parametrize(
    "named",
    [
        SHORT.replace('rate = "10 Mbit/s"', 'rate = { trace = "/etc/passwd" }'),
        SHORT + 'traffic = { kind = "replay", file = "/etc/flows.csv" }\n',
        SHORT + 'control = { law = "bpf", object = "/etc/passwd" }\n',
    ],
)
def test_a_scenario_of_the_page_names_no_file(page: Page, named: str) -> None:
    for path, body in (("api/check", {"text": named}), ("api/jobs", {"kind": "run", "text": named, "tab": "a-tab-00"})):
        answer = page.post(path, body)
        said = answer.json().get("message") or refusal(answer)
        assert "names a file, and none is read here; run it with the command line" in said
    with pytest.raises(InputError, match="none is read here"):
        read_text(named)


def test_the_form_says_beside_the_field_what_the_parser_says(page: Page) -> None:
    found = page.post("api/check", {"text": SHORT}).json()
    assert found["ok"]
    mapping = found["mapping"]
    mapping["links"][0]["buffer"] = "25 pakets"
    wrong = page.post("api/check", {"mapping": mapping}).json()
    assert (wrong["ok"], wrong["place"]) == (False, "links[0].buffer")
    assert "packets" in wrong["message"]
    mapping["links"][0]["buffer"] = "30 packets"
    right = page.post("api/check", {"mapping": mapping}).json()
    assert right["ok"]
    assert Scenario.from_text(right["text"]).links[0]["buffer_limit_packets"] == 30


def test_what_takes_too_long_is_refused_with_the_command(page: Page) -> None:
    text = SHORT.replace("4 s", "100000 s").replace("10 Mbit/s", "10 Gbit/s")
    answer = page.post("api/jobs", {"kind": "run", "text": text, "tab": "a-tab-00"})
    assert "a page runs up to 240 s" in refusal(answer)


def test_the_queue_is_bounded_and_a_tab_replaces_its_own(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    # No run begins before the queue is full, however fast the machine is.
    held, run = threading.Event(), Job.run
    monkeypatch.setattr(Job, "run", lambda job: (job.is_cancelled or held.wait(PATIENCE_S)) and run(job))
    first = page.start(kind="run", text=LONG, tab="tab-of-one")
    second = page.start(kind="run", text=LONG.replace("80 ms", "79 ms"), tab="tab-of-one")
    assert page.server.queue.get(first["job"]) is None
    others = [
        page.start(kind="run", text=LONG.replace("80 ms", f"{60 + number} ms"), tab=f"tab-{number:04}")
        for number in range(page.server.queue.running + MOST_WAITING - 1)
    ]
    full = page.post("api/jobs", {"kind": "run", "text": LONG, "tab": "one-more-tab"})
    assert full.status_code == 503
    assert "runs waiting already" in refusal(full)
    held.set()
    for each in (second, *others):
        assert page.post(f"api/jobs/{each['job']}/cancel", {}).json() == {"cancelled": True}
    for each in (second, *others):
        assert page.events(each["job"])[-1]["state"] == "cancelled"
    assert list(page.server.queue) == []


def test_two_users_get_their_own_answers(page: Page) -> None:
    one = page.start(kind="run", text=SHORT.replace("80 ms", "83 ms"), tab="first-user")
    other = page.start(kind="run", text=SHORT.replace("80 ms", "84 ms"), tab="other-user")
    ends = [page.events(each["job"])[-1] for each in (other, one)]
    assert [end["state"] for end in ends] == ["final", "final"]
    assert len({end["id"] for end in ends}) == 2


@contextmanager
def asked(address: str, path: str, body: Any = None) -> Iterator[http.client.HTTPResponse]:
    parts = urlsplit(address)
    with closing(http.client.HTTPConnection(parts.netloc, timeout=PATIENCE_S)) as connection:
        headers = {} if body is None else {"Content-Type": "application/json"}
        content = None if body is None else json.dumps(body)
        connection.request("GET" if body is None else "POST", f"{parts.path}{path}", content, headers)
        with connection.getresponse() as answer:
            yield answer


def started(address: str, text: str) -> str:
    with asked(address, "api/jobs", {"kind": "run", "text": text, "tab": "a-tab-00"}) as answer:
        return str(json.load(answer)["job"])


@pytest.mark.slow
def test_a_closed_tab_cancels_its_job_and_kill_9_loses_no_finished_run(tmp_path: Path) -> None:
    with serving(tmp_path / "store") as (address, process):
        job = started(address, LONG)
        with asked(address, f"api/jobs/{job}") as stream:
            assert stream.readline()
        until(lambda: is_forgotten(address, job), "the job is still there")
        with asked(address, f"api/jobs/{started(address, SHORT)}") as answer:
            lines = answer.read().decode().splitlines()
        last = json.loads([line for line in lines if line.startswith("data: ")][-1].removeprefix("data: "))
        assert last["state"] == "final"
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE_S)
    with Store(tmp_path / "store", readonly=True) as store:
        assert store.get(last["id"]).to_json()["run"]["scenario"] == "Short"


def is_forgotten(address: str, job: str) -> bool:
    """Whether the server knows a job no more."""
    with asked(address, f"api/jobs/{job}/cancel", {}) as answer:
        return bool(json.load(answer) == {"cancelled": False})


@pytest.mark.slow
def test_signals_end_the_server_with_the_shells_code(tmp_path: Path) -> None:
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        with serving(tmp_path / "store") as (address, process):
            with asked(address, f"api/jobs/{started(address, LONG)}") as stream:
                assert stream.readline()
                process.send_signal(number)
                _, said = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == code, said
            assert b"Traceback" not in said


@pytest.mark.slow
def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path) -> None:
    done = without(["web"], "starlette", "uvicorn", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "web needs starlette and uvicorn, not installed here; pip install 'elephan[web]'\n"


def test_other_machines_are_named_in_as_many_words(elephan: Command) -> None:
    done = elephan("web", "--host", "0.0.0.0", "--no-browser", "--others-may-connect")
    assert done.code == 2
    assert "give the name or address that others will use" in done.err
    done = elephan("web", "--host", "192.0.2.7", "--no-browser")
    assert done.code == 2
    assert done.err == "--host 192.0.2.7: other machines could connect; say --others-may-connect as well if they may\n"


def test_python_lines_of_every_kind_are_programs() -> None:
    bodies: list[dict[str, Any]] = [{"kind": card.view, "card": name} for name, card in cards().items()]
    bodies.append({"kind": "compare", "texts": {"x": SHORT, "y": SHORT.replace("80 ms", "90 ms")}})
    bodies.append({"kind": "compare", "lesson": "pacing"})
    for body in bodies:
        lines = read_ask(body).lines()
        compile(lines["python"], "lines", "exec")
        assert lines["command"].startswith("elephan ")
        for text in lines["files"].values():
            Scenario.from_text(text)


@pytest.mark.slow
def test_a_static_edition_is_plain_files(tmp_path: Path) -> None:
    said: list[str] = []
    written = export_site(tmp_path / "site", say=said.append, only=["reach", "queue", "bbr", "sawtooth"], shorten=0.05)
    files = {str(path.relative_to(tmp_path / "site")) for path in (tmp_path / "site").rglob("*") if path.is_file()}
    assert len(files) == written
    data = json.loads((tmp_path / "site" / "data.js").read_text().removeprefix("window.elephanStatic = ").rstrip(";\n"))
    assert [card["id"] for card in data["cards"]] == ["reach", "queue", "bbr"]
    for card in data["cards"]:
        for number in range(len(card["vary"]["values"])):
            text = (tmp_path / "site" / "data" / f"{card['id']}-{number}.js").read_text()
            event = json.loads(text.removeprefix("window.elephanPoint(").rstrip(");\n"))
            assert event["page"]["headline"]
            assert event["files"]
    assert "data/lesson-sawtooth.js" in files
    assert len(said) == 4


def test_a_job_that_is_not_read_is_forgotten(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elephan.web.jobs.PATIENCE_S", 0.01)
    sent = page.start(kind="run", text=LONG, tab="not-reading")
    time.sleep(0.05)
    until(lambda: page.get(f"api/jobs/{sent['job']}").status_code == 404, "the job is still there")
