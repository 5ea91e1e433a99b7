"""The server of the page: a Starlette application behind `elephan.web.guard.Guard`."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from html import escape
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from elephan import _native
from elephan.catalog import catalog
from elephan.costs import estimate
from elephan.errors import InputError
from elephan.lint import lint
from elephan.reports.render import render
from elephan.reports.themes import variables
from elephan.scenario import Scenario
from elephan.schema import schema
from elephan.sizing.pictures import DRAWN_RULES, rule_name
from elephan.store.stored import StoredRun
from elephan.theory.rules import RULES
from elephan.web import work
from elephan.web.asking import Ask, read_ask, read_mapping, read_text
from elephan.web.cards import cards, labels_of, lessons, presets
from elephan.web.comparing import names_of, page_of_variants
from elephan.web.guard import MOST_BYTES, Guard, TooLargeError
from elephan.web.jobs import LOG, BusyError, JobQueue
from elephan.web.results import TYPES, Results

STATIC = {
    "index.html": "text/html; charset=utf-8",
    "style.css": "text/css; charset=utf-8",
    **dict.fromkeys(("draw.js", "view.js", "form.js", "panel.js", "app.js"), "text/javascript; charset=utf-8"),
}
"""Files of the page, and their media types. `colours.css` is generated from the report's themes."""

TERMS = b"<!-- terms of the catalogue -->"

TAB = re.compile(r"[A-Za-z0-9_-]{8,40}")
MOST_OPTIONS = 26
"""Maximum number of runs in one table; each has a letter."""

SLOTS = ("run", "curve", "hero")

PLACE = re.compile(
    r"^(?:[^:\s]*\.toml|scenario): |^[^:]{1,60}: (?=(?:links|flows|pools|record|duration|warmup|seed|title)\b)"
)
"""Pattern of the origin at the beginning of a message of the parser, which the page does not show."""


def static_files() -> dict[str, bytes]:
    """Return the files of the page by name."""
    folder = files("elephan.web").joinpath("static")
    found = {name: folder.joinpath(name).read_bytes() for name in STATIC}
    light, dark = variables("light"), variables("dark")
    css = (
        f":root {{ color-scheme: light; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ color-scheme: dark; {dark} }} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {dark} }}\n"
    )
    page = found["index.html"].replace(TERMS, terms().encode())
    return found | {"index.html": page, "colours.css": css.encode()}


def terms() -> str:
    """Return explanations of the choices of controls, and of buffer rules, as HTML; they come from the catalogue."""
    found = [(rule_name(name), f"Rule of thumb for a buffer: {RULES[name].title}") for name in DRAWN_RULES[:1]]
    for control, kind, words in (("queue", "queues", "Queue"), ("law", "laws", "Congestion control")):
        known = {each["name"]: each for each in catalog(kind)}
        for name, label in labels_of(control).items():
            found.append((label, f"{words}: {known[name]['title']}. {known[name]['source']}"))
    return "\n".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}.</dd>" for term, text in found)


def page_data() -> dict[str, Any]:
    """Return the initial data of the page: version, presets, questions and guided experiments."""
    return {
        "version": _native.version(),
        "presets": presets(),
        "cards": [card.to_json() for card in cards().values()],
        "lessons": [lesson.to_json() for lesson in lessons().values()],
    }


def wrong(error: InputError) -> dict[str, Any]:
    """Return an error for the form: the place in the file or the name of the control, and the message."""
    text = PLACE.sub("", str(error))
    place, colon, rest = text.partition(": ")
    if colon and re.fullmatch(r"[\w.\[\]-]+", place):
        return {"place": place, "message": rest}
    return {"place": "", "message": text}


def sent(ask: Ask) -> dict[str, Any]:
    """Return the parts of a request that the page shows before the result."""
    return {
        "kind": ask.kind,
        "title": ask.scenario.title,
        "target": ask.target,
        "names": list(ask.variants),
    } | ask.lines()


class Server:
    """The endpoints of the server, with their queue of jobs and their results."""

    def __init__(self, results: Results, workers: int) -> None:
        self.results, self.workers = results, workers
        # Read cards and experiments from their files now, so that the first visit does not wait for them.
        self._static, self._data = static_files(), page_data()
        self._queue: JobQueue | None = None

    @property
    def queue(self) -> JobQueue:
        """The queue of jobs; it is created when the first job is started."""
        if self._queue is None:
            self._queue = JobQueue(self.workers)
        return self._queue

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Close the queue and the store at the end."""
        try:
            yield
        finally:
            self.close()

    def cancel_all(self) -> None:
        """Cancel all jobs; may be called by the handler of a signal."""
        for job in self._queue or ():
            job.cancel()

    def close(self) -> None:
        """Cancel all jobs, and release the store."""
        if self._queue is not None:
            self._queue.close()
        self.results.close()

    def application(self) -> Starlette:
        """Return the application."""
        routes = [
            Route("/", self.static),
            Route("/api/page", lambda _: JSONResponse(self._data)),
            Route("/api/schema", lambda _: JSONResponse(schema())),
            Route("/api/fill", self.fill, methods=["POST"]),
            Route("/api/check", self.check, methods=["POST"]),
            Route("/api/jobs", self.start, methods=["POST"]),
            Route("/api/jobs/{job}", self.events),
            Route("/api/jobs/{job}/cancel", self.cancel, methods=["POST"]),
            Route("/api/results/{ids:path}", self.result),
            Route("/files/{one}/{name}", self.file),
            Route("/files/{ids:path}/report.html", self.report_of_several),
            Route("/{name}", self.static),
        ]
        handlers: dict[Any, Any] = dict.fromkeys((InputError, TooLargeError, ClientDisconnect, Exception), _on_error)
        made = Starlette(routes=routes, lifespan=self.lifespan, exception_handlers=handlers)
        # A redirect would lack the token of the address, which the application does not know.
        made.router.redirect_slashes = False
        return made

    async def static(self, request: Request) -> Response:
        """Return a file of the page."""
        name = request.path_params.get("name") or "index.html"
        content = self._static.get(name)
        return _missing() if content is None else Response(content, media_type=STATIC.get(name, STATIC["style.css"]))

    async def fill(self, request: Request) -> Response:
        """Return the scenario, the commands and the Python lines of a request, without running it."""
        body = await _body(request)
        return JSONResponse(await asyncio.to_thread(lambda: sent(read_ask(body))))

    async def check(self, request: Request) -> Response:
        """Check a scenario, given as text or as the form's mapping; return an error, or the warnings of lint."""
        body = await _body(request)
        return JSONResponse(await asyncio.to_thread(_checked, body))

    async def start(self, request: Request) -> Response:
        """Start a job; its events are available at an address of its own."""
        body = await _body(request)
        tab, slot = body.get("tab"), body.get("slot", "run")
        if not isinstance(tab, str) or not TAB.fullmatch(tab) or slot not in SLOTS:
            raise InputError(f"tab: 8 to 40 letters, digits, - and _; slot: one of {', '.join(SLOTS)}")
        ask = await asyncio.to_thread(read_ask, body)
        cost_s = await asyncio.to_thread(work.check_cost, list(ask.variants.values()), ask.kind)
        job = self.queue.start(lambda job: work.WORK[ask.kind](job, self.results, ask), tab, str(slot))
        return JSONResponse(sent(ask) | {"job": job.id, "cost_s": float(f"{cost_s:.2g}")})

    async def events(self, request: Request) -> Response:
        """Stream the events of a job; when the connection ends, the job is cancelled."""
        job = self.queue.get(request.path_params["job"])
        if job is None or job.is_read:
            return _missing()
        job.is_read = True

        async def stream() -> AsyncIterator[str]:
            try:
                yield "retry: 600000\n\n"
                async for event in job.events():
                    yield ": still here\n\n" if event is None else f"data: {json.dumps(event, allow_nan=False)}\n\n"
            finally:
                self.queue.end(job)

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def cancel(self, request: Request) -> Response:
        """Cancel a job; unknown and finished jobs are ignored."""
        job = self.queue.get(request.path_params["job"])
        if job is not None:
            job.cancel()
        return JSONResponse({"cancelled": job is not None})

    async def result(self, request: Request) -> Response:
        """Return a finished result, or a comparison of several, by hash."""
        ids = request.path_params["ids"].split("/")
        found = await asyncio.to_thread(self._result, ids)
        return _missing() if found is None else JSONResponse(found)

    def _several(self, ids: list[str]) -> dict[str, StoredRun]:
        """Return several runs by name; empty if a run is missing, or two are equal."""
        runs = [run for each in ids[:MOST_OPTIONS] if (run := self.results.run(each)) is not None]
        named = dict(zip(names_of(runs), runs, strict=False))
        return named if len(named) == len(ids) == len(set(ids)) else {}

    def _result(self, ids: list[str]) -> dict[str, Any] | None:
        if len(ids) > 1:
            if not (variants := self._several(ids)):
                return None
            scenarios = {name: run.scenario for name, run in variants.items()}
            ask = Ask("compare" if len(ids) == 2 else "options", scenarios, next(iter(scenarios.values())).text)
            return sent(ask) | work.compare_event(self.results, variants)
        run = self.results.run(ids[0])
        page = self.results.page(ids[0])
        if page is None:
            return None
        if run is not None:
            ask = Ask("run", {page.title: run.scenario}, run.scenario.text)
            return sent(ask) | work.run_event(self.results, run)
        lines = {"files": {"scenario.toml": page.scenario}, "command": "\n".join(line.line for line in page.reproduce)}
        python = 'import elephan\n\nelephan.load("sized/")  # what --out of the command has written'
        return {"title": page.title, **lines, "python": python} | work.size_event(self.results, ids[0])

    async def file(self, request: Request) -> Response:
        """Return a file of a result for download."""
        one, name = request.path_params["one"], request.path_params["name"]
        content = await asyncio.to_thread(self.results.file, one, name)
        return _missing() if content is None else _download(content, TYPES[name], f"elephan-{one[:12]}-{name}")

    async def report_of_several(self, request: Request) -> Response:
        """Return the report of several runs for download."""
        ids = request.path_params["ids"].split("/")
        runs = await asyncio.to_thread(self._several, ids)
        if len(runs) < 2:
            return _missing()
        html = await asyncio.to_thread(lambda: render(page_of_variants(runs)))
        return _download(html.encode(), TYPES["report.html"], f"elephan-{ids[0][:12]}-{ids[1][:12]}.html")


def guarded(server: Server, token: str, hosts: Collection[str]) -> ASGIApp:
    """Return the application of a server behind its guard."""
    return Guard(server.application(), token, hosts)


def _checked(body: Mapping[str, Any]) -> dict[str, Any]:
    try:
        read: Scenario = read_mapping(body["mapping"]) if "mapping" in body else read_text(body.get("text"))
        cost = estimate(read, workers=1)
        warnings = [warned.to_json() for warned in lint(read)]
    except InputError as error:
        return {"ok": False, **wrong(error)}
    return {
        "ok": True,
        "text": read.text,
        "mapping": read.source,
        "cost_s": float(f"{cost.cpu_s:.2g}"),
        "warnings": warnings,
    }


async def _body(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request.

    Raises
    ------
    InputError
        If the body is not a JSON object.
    """
    raw = await request.body()
    try:
        body = json.loads(raw)
        # Refuse lone surrogates here: they cannot be encoded later.
        json.dumps(body, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise InputError("request: must be a JSON object")
    return body


async def _on_error(_: Request, error: Exception) -> Response:
    """Answer a request that failed."""
    if isinstance(error, InputError):
        # Invalid input is normal in this dialogue. Browsers would report another status as an error of the page.
        return JSONResponse({"error": wrong(error)}, 503 if isinstance(error, BusyError) else 200)
    if isinstance(error, TooLargeError):
        return PlainTextResponse(f"the request has more than {MOST_BYTES} bytes\n", 413)
    if isinstance(error, ClientDisconnect):
        # The connection is closed, so nobody reads this answer. Without it, the error would be logged as a defect.
        return PlainTextResponse("the request ended early\n", 400)
    LOG.error("a defect of elephan", exc_info=error)
    return PlainTextResponse("a defect of elephan; the terminal has its place\n", 500)


def _missing() -> Response:
    return PlainTextResponse("there is nothing at this address\n", 404)


def _download(content: bytes, kind: str, name: str) -> Response:
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
