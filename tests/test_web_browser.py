"""`elephan web` in headless Chromium: whole visits by mouse and by keyboard, wide and narrow, light and dark."""

import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from conftest import PATIENCE_S
from webs import SHORT, serving

from elephan.web.export import export_site  # isort: skip (webs skips the module if the extra is missing)

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), ""
)
AXE = Path(__file__).parent / "cache" / "axe.min.js"
"""axe-core (MPL-2.0), which is not part of the project; `axe-core-*.tgz` of the npm registry beside it will do, too."""

SHORT_PAGE = "#/q/queue?rate=2"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="chromium is not on the path"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("web") / "store") as (found, _):
        yield found


@contextmanager
def visit(browser: Any, address: str, *, width: int = 1400, dark: bool = False) -> Iterator[Any]:
    """Open a page; at the end nothing was said on the console, and nothing asked of another host."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", accept_downloads=True
    )
    page = context.new_page()
    page.set_default_timeout(1e3 * PATIENCE_S)
    said: list[str] = []
    asked: set[str] = set()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(f"{error} {error.stack}"))
    page.on("request", lambda request: asked.add(urlsplit(request.url).netloc or request.url[:5]))
    try:
        yield page
        assert said == []
        assert asked <= {urlsplit(address).netloc or "file:", "data:", "blob:"}
    finally:
        context.close()


def final(page: Any) -> None:
    """Wait for the last picture."""
    page.wait_for_function(
        "() => { const all = [...document.querySelectorAll('.state[data-state]')];"
        " return all.length && all.every(each => each.dataset.state === 'final'); }"
    )


@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_every_page_fits_its_window(browser: Any, address: str, width: int, dark: bool) -> None:
    with visit(browser, address, width=width, dark=dark) as page:
        page.goto(address)
        for place in ("", SHORT_PAGE, "#/experiments", "#/x/sawtooth", "#/file", "#/nosuch"):
            page.goto(f"{address}{place}")
            page.wait_for_selector("main h1")
            if place == SHORT_PAGE:
                final(page)
                assert page.locator("svg.plot").count() >= 4
            assert page.evaluate("document.documentElement.scrollWidth") <= width, place
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(16, 19, 22)" if dark else "rgb(246, 247, 249)")


TOPS = """window.tops = new Set();
(function look() {
  const first = document.querySelector('.group');
  if (first) window.tops.add(first.offsetTop);
  requestAnimationFrame(look);
})();"""
"""Script that notes where the first cards are in every picture that the browser draws."""


@pytest.mark.parametrize("width", [360, 390, 600, 1400])
def test_the_cards_stay_where_they_are_while_the_live_run_is_drawn(browser: Any, tmp_path: Path, width: int) -> None:
    # With a store of its own: a run that is there already has no preliminary pictures.
    with serving(tmp_path / "store") as (address, _), visit(browser, address, width=width) as page:
        page.add_init_script(TOPS)
        page.goto(address)
        page.wait_for_selector(".hero svg.plot")
        final(page)
        page.wait_for_function("() => document.querySelectorAll('.hero figure').length === 1")
        assert page.evaluate("window.tops.size") == 1


def test_all_queues_are_in_one_table(browser: Any, address: str) -> None:
    with visit(browser, address, width=390, dark=True) as page:
        page.goto(f"{address}{SHORT_PAGE}")
        final(page)
        page.select_option("#c-b", "all")
        page.wait_for_selector("td:text('short run')")
        final(page)
        assert page.locator("td.best").count() >= 1
        assert page.locator("tbody tr").count() == 7
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.click("a.address")
        page.wait_for_selector("h1:text('Which queue?')")
        final(page)
        assert page.locator("td.best").count() >= 1


def test_a_visit_by_mouse(browser: Any, address: str) -> None:
    with visit(browser, address) as page:
        page.goto(address)
        page.click("text=Which queue?")
        page.fill("#c-rate", "2")
        page.press("#c-rate", "Enter")
        final(page)
        assert "FQ-CoDel" in page.inner_text(".answer")
        assert "B - A" in page.inner_text("table >> nth=0")
        # A changed choice is answered again.
        page.select_option("#c-b", "codel")
        page.wait_for_function("() => document.querySelector('.answer')?.innerText.includes('B: CoDel')")
        final(page)
        page.click("role=tab[name='Command']")
        assert "links[0].queue=codel" in page.inner_text("#lines")
        with page.expect_download() as download:
            page.click("a:text('Report')")
        assert download.value.suggested_filename.endswith(".html")
        permanent = page.locator("a.address").get_attribute("href")
        page.click("a.address")
        final(page)
        assert page.url.endswith(permanent)
        assert "Paired difference" in page.inner_text("main")
        # What is out of range is said beside its control.
        page.goto(f"{address}{SHORT_PAGE}")
        page.fill("#c-rate", "0")
        page.press("#c-rate", "Enter")
        page.wait_for_selector(".control.bad .wrong:visible")
        assert page.inner_text(".control.bad .wrong") == "must be 1 to 10000 Mbit/s"


def test_a_curve_fills_in_and_its_slider_runs_the_link(browser: Any, address: str) -> None:
    with visit(browser, address) as page:
        page.goto(f"{address}#/q/buffer?rate=5&flows=2&rtt=40")
        page.wait_for_selector(".chip.running")
        page.wait_for_selector("#slider:not([disabled])")
        final(page)
        page.locator("#slider").focus()
        before = page.locator("#slider").get_attribute("aria-valuetext")
        for _ in range(40):
            page.keyboard.press("ArrowLeft")
        assert page.locator("#slider").get_attribute("aria-valuetext") != before
        page.wait_for_function("() => document.querySelectorAll('.state[data-state=final]').length === 2")
        assert page.locator(".plot .cursor").count() >= 3
        assert page.locator(".plot .mark.answer").count() >= 3


def test_a_visit_by_keyboard(browser: Any, address: str) -> None:
    with visit(browser, address) as page:
        page.goto(address)
        page.wait_for_selector("main h1")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"

        # A new page moves the focus to its own element, whose text has every word of the page.
        def reach(words: str) -> None:
            for _ in range(80):
                page.keyboard.press("Tab")
                if words in page.evaluate("document.activeElement.closest('a, button')?.innerText ?? ''"):
                    return
            pytest.fail(f"{words!r} is not reached by Tab")

        reach("eight experiments")
        page.keyboard.press("Enter")
        page.wait_for_selector("main h1:text('Eight experiments')")
        reach("Bufferbloat and CoDel")
        page.keyboard.press("Enter")
        page.wait_for_selector("input[name=guess]")
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.name") == "guess":
                break
        for _ in range(2):
            page.keyboard.press("ArrowDown")
        reach("Run both")
        page.keyboard.press("Enter")
        final(page)
        assert "Your guess was right." in page.inner_text(".answer.good")


def test_a_file_is_dropped_and_the_form_says_what_is_wrong(browser: Any, address: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(SHORT)
    with visit(browser, address) as page:
        page.goto(f"{address}#/file")
        page.set_input_files("#open", tmp_path / "mine.toml")
        page.wait_for_function("() => document.querySelector('#text').value.includes('Short')")
        page.wait_for_selector(".chip.final")
        dropped = page.evaluate_handle(
            "(text) => { const all = new DataTransfer(); all.items.add(new File([text], 'mine.toml')); return all; }",
            SHORT.replace("Short", "Dropped"),
        )
        page.dispatch_event("#drop", "drop", {"dataTransfer": dropped})
        page.wait_for_function("() => document.querySelector('#text').value.includes('Dropped')")
        page.wait_for_selector(".chip.final")
        page.click("button:text('All keys')")
        buffer = page.locator("[data-path='links[0].buffer'] input")
        buffer.fill("25 pakets")
        buffer.press("Enter")
        page.wait_for_selector("[data-path='links[0].buffer'].bad .wrong:visible")
        assert "packets" in page.inner_text("[data-path='links[0].buffer'] .wrong")
        buffer.fill("30 packets")
        buffer.press("Enter")
        page.wait_for_function("() => document.querySelector('#text').value.includes('30 packets')")
        page.click("button.main:text('Run')")
        final(page)
        assert "Each bulk flow gets" in page.inner_text(".headline")


def test_a_static_edition_opens_from_a_folder(browser: Any, tmp_path: Path) -> None:
    export_site(tmp_path / "site", say=lambda _: None, only=["bbr"], shorten=0.05)
    where = (tmp_path / "site" / "index.html").as_uri()
    with visit(browser, where) as page:
        page.goto(f"{where}#/q/bbr")
        page.wait_for_selector("svg.plot")
        assert "static edition" in page.inner_text("main")
        first = page.inner_text(".headline")
        page.locator("#point").focus()
        page.keyboard.press("Home")
        page.wait_for_function("first => document.querySelector('.headline').innerText !== first", arg=first)


def axe() -> str:
    """Return axe-core; the test is skipped without it."""
    if AXE.is_file():
        return AXE.read_text(encoding="utf-8")
    for archive in sorted(AXE.parent.glob("axe-core-*.tgz")):
        with tarfile.open(archive) as packed:
            member = packed.extractfile("package/axe.min.js")
            assert member is not None
            return member.read().decode()
    pytest.skip(f"axe-core is not in {AXE.parent.name}/: npm pack axe-core --pack-destination tests/cache")


@pytest.mark.parametrize("dark", [False, True])
def test_no_serious_finding_of_accessibility(browser: Any, address: str, dark: bool) -> None:
    script = axe()
    with visit(browser, address, dark=dark) as page:
        page.goto(address)
        questions = (SHORT_PAGE, f"{SHORT_PAGE}&b=all", "#/q/buffer?rate=5&flows=2&rtt=40")
        for place in ("", *questions, "#/experiments", "#/x/sawtooth", "#/file"):
            page.goto(f"{address}{place}")
            page.wait_for_selector("main h1")
            page.evaluate("document.querySelector('footer details').open = true")
            if place in questions:
                final(page)
            if place == "#/file":
                page.click("button:text('All keys')")
                page.wait_for_selector("[data-path='duration']")
            page.evaluate(script)
            found = page.evaluate("async () => (await axe.run()).violations")
            serious = [
                (each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in ("serious", "critical")
            ]
            assert serious == [], place
