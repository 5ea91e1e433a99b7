"""Helpers for tests of `elephan web`: a client of the application, jobs read to their end, and a server process."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import PATIENCE_S

pytest.importorskip("starlette", reason="starlette is not installed: the extra web")
pytest.importorskip("httpx2", reason="httpx2 is not installed: Starlette's test client needs it")

from starlette.testclient import TestClient

from elephan.web.app import Server, guarded
from elephan.web.results import Results

TOKEN = "a-token"
HOST = "testserver"

SHORT = """
title = "Short"
duration = "4 s"
warmup = "1 s"
replications = 2
[[links]]
name = "core"
rate = "10 Mbit/s"
buffer = "25 packets"
[[flows]]
name = "bulk"
count = 2
path = ["core"]
rtt = "80 ms"
packet = "1000 B"
"""


class Page:
    """A client of the page."""

    def __init__(self, client: TestClient, server: Server) -> None:
        self.client, self.server = client, server

    def get(self, path: str, **more: Any) -> Any:
        return self.client.get(f"/{TOKEN}/{path}", **more)

    def post(self, path: str, body: Any) -> Any:
        return self.client.post(f"/{TOKEN}/{path}", json=body)

    def start(self, tab: str = "a-tab-00", **body: Any) -> dict[str, Any]:
        answer = self.post("api/jobs", {"tab": tab, **body})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def events(self, job: str) -> list[dict[str, Any]]:
        text = self.get(f"api/jobs/{job}").text
        return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]

    def answer(self, **body: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Run a job; return what was sent about it, and its events."""
        sent = self.start(**body)
        return sent, self.events(sent["job"])


@contextmanager
def page_in(folder: Path) -> Iterator[Page]:
    server = Server(Results(folder), 2)
    with TestClient(guarded(server, TOKEN, [HOST]), raise_server_exceptions=False) as client:
        yield Page(client, server)


@contextmanager
def serving(store: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Start `elephan web` in a process; yield its address and the process, which is ended afterwards."""
    words = [sys.executable, "-m", "elephan", "web", "--no-browser", "--store", str(store), *options]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        assert address.startswith("http://127.0.0.1:"), process.communicate(timeout=PATIENCE_S)
        yield address, process
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE_S)


def until(condition: Any, what: str) -> None:
    """Wait until a condition holds."""
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < PATIENCE_S, what
        time.sleep(0.02)
