"""Pages in a browser: everything is drawn, without network requests or errors, whatever the title."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import elephan
from conftest import PATIENCE_S
from elephan.comparisons import compare
from elephan.formats import stamped
from elephan.reports import report
from elephan.scenario import EXAMPLE, Scenario
from report_pages import swept
from testbeds import beside

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
HOSTILE = "</script><img src=x onerror=alert(1)><script>alert(1)</script>"

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="chromium is not on the path")


def opened(page: Path, folder: Path, hash_: str = "") -> tuple[str, str, list[dict[str, Any]]]:
    """Open a page; return its content, its messages, and its network requests."""
    log = folder / "net.json"
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    # Requests to the network get no answer, and are in the log.
    command += ["--host-resolver-rules=MAP * ~NOTFOUND", f"--log-net-log={log}", "--disable-background-networking"]
    command += ["--enable-logging=stderr", "--v=0", "--virtual-time-budget=2000", "--dump-dom"]
    done = subprocess.run(
        [*command, f"{page.as_uri()}{hash_}"], capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    text = log.read_text()
    try:
        asked = json.loads(text)
    except json.JSONDecodeError:
        asked = json.loads(text.rstrip().rstrip(",") + "]}")
    return done.stdout, done.stderr, list(asked["events"])


def requests(events: list[dict[str, Any]], page: Path) -> set[str]:
    """Return the requests of the page; the browser's own requests (updates, time, words) have no origin."""
    asked = [event.get("params") or {} for event in events]
    found = {said["url"] for said in asked if "url" in said and said.get("initiator") not in (None, "not an origin")}
    return found - {page.as_uri()}


def test_what_a_page_asks_for_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<script>fetch("https://elsewhere.example/x")</script>')
    _, said, asked = opened(page, tmp_path)
    assert requests(asked, page) == {"https://elsewhere.example/x"}
    assert "CONSOLE" in said


@pytest.mark.parametrize("kind", ["run", "sweep", "compare"])
def test_a_page_opens_without_network_and_complaint(tmp_path: Path, kind: str) -> None:
    page = tmp_path / "page.html"
    if kind == "run":
        scenario = Scenario.from_text(EXAMPLE).replace(title=HOSTILE).replace({"flows[0].name": HOSTILE})
        report(elephan.run(scenario, series=True), page)
        pictures = 6
    elif kind == "compare":
        scenario = Scenario.from_text(EXAMPLE).replace(title=HOSTILE).replace({"record": {"every": "50 ms"}})
        alone = compare(scenario, 1, real=False)
        report(beside(alone, alone.simulated, f"replication 0: {HOSTILE}"), page)
        pictures = 2
    else:
        (tmp_path / "sweep").mkdir()
        document = swept([f"1 {HOSTILE}", "2 packets"], [1, 4], HOSTILE)
        (tmp_path / "sweep" / "sweep.json").write_text(json.dumps(stamped(document)))
        report(tmp_path / "sweep", page)
        pictures = 2
    dom, said, asked = opened(page, tmp_path, "#dark")
    assert f'data-drawn="{pictures}"' in dom
    assert 'data-theme="dark"' in dom
    # Each picture has become what the library makes of it.
    assert dom.count('class="bk-Plot') >= pictures
    console = [line for line in said.splitlines() if "CONSOLE" in line and "setting log level" not in line]
    assert console == []
    assert requests(asked, page) == set()
    # Markup in the title has remained text.
    assert "<img" not in dom
    if kind == "sweep":
        assert re.search(r'aria-label="Utilization of core \[%\] against [^"]+: between 50 and', dom)
