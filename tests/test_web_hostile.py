"""Hostile requests of `elephan web`: whatever is sent, no endpoint answers 500, and nothing of the machine is read."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webs import SHORT, TOKEN, Page, page_in

TEXTS = st.one_of(
    st.text(max_size=200),
    st.sampled_from(
        [SHORT, "../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "\ud800", "\0", "0" * 70, "f" * 64]
    ),
    st.integers(0, len(SHORT)).map(lambda at: SHORT[:at]),
    st.tuples(st.integers(0, len(SHORT)), st.text(max_size=8)).map(lambda x: SHORT[: x[0]] + x[1] + SHORT[x[0] :]),
)
NUMBERS = st.one_of(
    st.integers(), st.floats(), st.sampled_from([10**400, -(10**400), 1e308, float("nan"), float("inf")])
)
THINGS = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=12,
)
MAPPINGS = st.fixed_dictionaries(
    {},
    optional={
        key: st.one_of(THINGS, st.just(good))
        for key, good in {
            "duration": "4 s",
            "warmup": "1 s",
            "links": [{"name": "core", "rate": "10 Mbit/s", "buffer": "25 packets"}],
            "flows": [{"path": ["core"], "rtt": "80 ms"}],
            "record": {},
            "seed": 1,
        }.items()
    },
)
NAMES = {
    "kind": ["run", "compare", "curve", "limit"],
    "card": ["buffer", "queue", "bbr", "path"],
    "lesson": ["rtt"],
    "tab": ["a-tab-00"],
    "slot": ["run"],
    "target": ["utilization=0.9"],
}
BODIES = st.fixed_dictionaries(
    {},
    optional={
        **{key: st.one_of(st.sampled_from(known), THINGS) for key, known in NAMES.items()},
        "values": st.one_of(
            st.dictionaries(st.sampled_from(["rate", "rtt", "flows", "law", "buffer"]), THINGS), THINGS
        ),
        "slider": THINGS,
        "text": TEXTS,
        "texts": st.one_of(st.dictionaries(TEXTS, TEXTS, max_size=3), THINGS),
        "mapping": st.one_of(MAPPINGS, THINGS),
    },
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with page_in(tmp_path_factory.mktemp("web") / "store") as found:
        yield found


def sent(page: Page, path: str, body: Any) -> Any:
    content = json.dumps(body).encode()
    return page.client.post(f"/{TOKEN}/{path}", content=content, headers={"content-type": "application/json"})


@settings(max_examples=80)
@given(body=BODIES)
def test_no_body_of_the_form_is_a_defect(page: Page, body: Any) -> None:
    for path in ("api/fill", "api/check"):
        answer = sent(page, path, body)
        assert answer.status_code in (200, 413), (path, answer.text)
        assert set(answer.json().get("error", {})) <= {"place", "message"}
        assert "root:" not in answer.text


@settings(max_examples=60)
@given(mapping=MAPPINGS)
def test_no_mapping_of_the_form_is_a_defect(page: Page, mapping: Any) -> None:
    answer = sent(page, "api/check", {"mapping": mapping})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    # Lone surrogates are no JSON text.
    assert found.get("ok") or found.get("message") or found["error"]["message"]


@settings(max_examples=30)
@given(body=BODIES)
def test_no_body_of_a_job_is_a_defect(page: Page, body: Any) -> None:
    answer = sent(page, "api/jobs", body)
    assert answer.status_code in (200, 413, 503), answer.text
    if "job" in answer.json():
        sent(page, f"api/jobs/{answer.json()['job']}/cancel", {})
        for job in page.server.queue:
            page.events(job.id)


@settings(max_examples=80)
@given(content=st.binary(max_size=400))
def test_no_bytes_are_a_defect(page: Page, content: bytes) -> None:
    for path in ("api/fill", "api/check", "api/jobs"):
        answer = page.client.post(f"/{TOKEN}/{path}", content=content, headers={"content-type": "application/json"})
        assert answer.status_code == 200


def test_deep_and_long_bodies_are_refused(page: Page) -> None:
    headers = {"content-type": "application/json"}
    for content in (b"[" * 100_000, b'{"a":' * 40_000, b'{"kind": ' + b"9" * 50_000 + b"}", b'{"text": "\\ud800"}'):
        answer = page.client.post(f"/{TOKEN}/api/jobs", content=content, headers=headers)
        assert answer.json()["error"]["message"]


WORDS = st.one_of(
    st.sampled_from(["..", "%2e%2e", "files", "api", "results", "jobs", "f" * 64, "report.html"]), st.text(max_size=20)
)


@settings(max_examples=80)
@given(parts=st.lists(WORDS, max_size=5), query=st.text(max_size=20))
def test_no_address_is_a_defect(page: Page, parts: list[str], query: str) -> None:
    path = "/".join(quote(part, safe="%", errors="replace") for part in parts)
    answer = page.client.get(f"/{TOKEN}/{path}", params={"q": query.encode("utf-8", "replace").decode()})
    assert answer.status_code in (200, 404, 405)
    assert "root:" not in answer.text
