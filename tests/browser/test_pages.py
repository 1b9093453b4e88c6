"""The report page and the explorers in a real browser: search, filter, sliders; nothing from outside, no errors."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import (
    Browser,
    FloatRect,
    Locator,
    Page,
    Playwright,
    TimeoutError,
    ViewportSize,
    expect,
    sync_playwright,
)

from codestress.pipeline.notebooks import about
from conftest import ROOT, codestress, ran, slow
from told import names

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), "")
expect.set_options(timeout=90_000)
pytestmark = pytest.mark.skipif(
    not CHROMIUM, reason="no browser is installed (Debian: apt install chromium)"
)


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@contextmanager
def browser_with(
    playwright: Playwright, environment: dict[str, str]
) -> Iterator[Browser]:
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic"]
    launched = playwright.chromium.launch(
        executable_path=CHROMIUM,
        args=[*flags, "--disable-background-networking"],
        env=dict(environment),
    )
    yield launched
    launched.close()


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with browser_with(playwright, dict(os.environ)) as launched:
        yield launched


@contextmanager
def opened(
    browser: Browser,
    address: str,
    own: str,
    width: int = 1100,
    scheme: Literal["light", "dark"] = "light",
) -> Iterator[Page]:
    """A page that must ask nobody but `own`, and say no error."""
    size: ViewportSize = {"width": width, "height": 800}
    page = browser.new_page(viewport=size, color_scheme=scheme)
    page.set_default_timeout(90_000)
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda told: said.extend([told.text] * (told.type == "error")))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(address)
    yield page
    page.close()
    assert [url for url in asked if not url.startswith((own, "data:", "blob:"))] == []
    assert said == []


CARDS = ROOT / "lib/codestress/explore/jupyter/voila/templates/codestress/static"


@contextmanager
def report(browser: Browser, smoke: Path, width: int = 1100) -> Iterator[Page]:
    """The smoke build's report."""
    with opened(browser, address(smoke), "file://", width) as page:
        yield page


def address(smoke: Path) -> str:
    return (smoke / "smoke" / "index.html").as_uri()


def loaded(picture: Locator) -> None:
    """Waits until the browser has a picture in sight."""
    picture.scroll_into_view_if_needed()
    there = "image => image.complete && image.naturalWidth > 0"
    picture.page.wait_for_function(there, arg=picture.element_handle())


def box_of(shown: Locator) -> FloatRect:
    box = shown.bounding_box()
    assert box is not None
    return box


def click_spot(picture: Locator, spot: list[Any]) -> None:
    """Clicks in the middle of a place, which is in thousandths of the picture."""
    image = picture.locator("img")
    loaded(image)
    left, top, width, height, *_ = spot
    x, y = (left + width / 2) / 1000, (top + height / 2) / 1000
    box = box_of(image)
    picture.click(position={"x": box["width"] * x, "y": box["height"] * y})


def test_the_first_screen_has_a_card_for_each_paper(
    browser: Browser, smoke: Path
) -> None:
    with report(browser, smoke, 1366) as page:
        expect(page.locator("header")).to_contain_text("no large language model")
        cards = page.locator("article.paper")
        assert cards.count() == 4
        for card in cards.all():
            expect(card).to_be_in_viewport()
            headline = card.locator(".headline").inner_text()
            assert re.match(r"Claimed: \d", headline)
            commands = ("make data", "PROFILE=paper", "make plan")
            names(card.locator(".rest").inner_text(), *commands, "requests, $")
            expect(card.locator(".rest")).to_be_in_viewport(ratio=1)
            image = card.locator("img")
            loaded(image)
            ways = card.locator(".ways a").all()
            figure, notebook, model = (str(way.get_attribute("href")) for way in ways)
            for place in (figure, model):
                assert page.locator(f"[id='{place[1:]}']").count() == 1
            assert (smoke / "smoke" / notebook).is_file()
            assert 0 < len(image.get_attribute("alt") or "") <= 500
        # Only instruments answered.
        numbers = page.locator("#board td[data-value]")
        assert numbers.count() > 0
        assert numbers.and_(page.locator("td:nth-child(odd)")).count() == 0


@pytest.mark.slow
def test_every_number_of_a_card_leads_to_its_rows_of_the_ledger(
    browser: Browser, smoke: Path
) -> None:
    with report(browser, smoke, 1280) as page:
        shown = page.get_by_role("search", name="Claims").locator("output")
        links = page.locator(".says a, .rest a, .verdicts a")
        assert links.count() > 8
        verdict = re.compile(r"^\d+ (in|does|differs)")
        contrary = page.locator(".contrary a", has_text=verdict)
        for link in (*links.all(), *contrary.all()):
            number = link.inner_text().split()[0]
            link.click()
            expect(shown).to_have_text(re.compile(f"^{number} of"))
        for link in page.locator(".headline a, .contrary a").all():
            link.click()
            expect(page.locator("#ledger tbody tr:visible").first).to_be_in_viewport()


def test_what_was_not_run_is_folded_with_its_command(
    browser: Browser, smoke: Path
) -> None:
    with report(browser, smoke) as page:
        assert page.evaluate("document.getElementsByTagName('*').length") < 40_000
        rows, folds = page.locator("#ledger tbody tr"), page.locator("#ledger .fold")
        verdicts = rows.evaluate_all("rows => rows.map((row) => row.matches('.fold'))")
        first = verdicts.index(True)
        assert all(verdicts[first:])
        folded = folds.locator("a").all_inner_texts()
        assert len(folded) == len({*folded}) == len(verdicts) - first
        command = "make codecrash/tab01 PROFILE=paper"
        fold = page.locator(".fold", has_text=command)
        names(fold.inner_text(), "make plan codecrash/tab01 PROFILE=paper")
        priced = page.locator(".fold", has_text="make origin/fig04 PROFILE=paper")
        names(priced.inner_text(), "1,638 requests at most", "$25.4 to $31")
        button = fold.get_by_role("button")
        number = int(button.inner_text().split()[0])
        button.focus()
        page.keyboard.press("Enter")
        expect(button).to_have_attribute("aria-expanded", "true")
        assert rows.count() == len(verdicts) + number
        page.keyboard.press("Enter")
        assert rows.count() == len(verdicts)
        claims = page.get_by_role("search", name="Claims")
        clear = claims.get_by_role("button")
        assert clear.count() == 0
        claims.get_by_label("Search").fill("no such words")
        assert page.locator("#ledger tbody tr:visible").count() == 0
        clear.click()
        assert page.locator("#ledger tbody tr:visible").count() == len(verdicts)
        expect(claims.get_by_label("Search")).to_be_focused()
        assert clear.count() == 0


def test_models_are_sorted_by_click_and_by_keyboard(
    browser: Browser, tmp_path: Path
) -> None:
    right = {"m1": 9, "m2": 1}
    manifest: dict[str, Any] = {"title": "Figure 4", "protocol": "the paper's"}
    manifest["leaderboard"] = True
    manifest["models"] = [{"name": name, "engine": "openai"} for name in right]
    manifest["counts"] = {
        name: {"correct": n, "incorrect": 10 - n, "skipped": 0}
        for name, n in right.items()
    }
    mute = [f"{'long_' * 14}{number}" for number in range(9)]
    for name in mute:
        manifest["counts"][name] = {"correct": 0, "unparsable": 9, "skipped": 0}
    manifest["reasons"] = {mute[0]: {"unparsable: \u202e\x1b": 9}}
    for name in ("origin/fig04", "semtrace/tab01"):
        path = tmp_path / "mine" / name / "manifest.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(manifest))
        shutil.copy(CARDS / "ask.png", path.with_name("figure.png"))
    done = codestress("report", outputs=tmp_path)
    assert done.returncode == 0, done.stderr
    with opened(browser, (tmp_path / "mine/index.html").as_uri(), "file://") as page:
        table = page.locator("#board")
        models = table.locator("tbody th")
        assert "unparsable: \\u202e\\x1b" in page.locator("header").inner_text()
        names(page.locator("header").inner_text(), "6 more models without")
        alphabet = models.all_inner_texts()
        assert alphabet == sorted(alphabet)
        column = table.get_by_role("columnheader", name="here, origin/fig04")
        column.get_by_role("button").click()
        expect(column).to_have_attribute("aria-sort", "descending")
        assert models.all_inner_texts()[:2] == ["m1", "m2"]
        page.keyboard.press("Enter")
        expect(column).to_have_attribute("aria-sort", "ascending")
        # Rows without a number stay last.
        assert models.all_inner_texts()[:2] == ["m2", "m1"]
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Space")
        published = table.get_by_role("columnheader", name="published, origin/fig04")
        expect(published).to_have_attribute("aria-sort", "descending")
        assert table.locator("[aria-sort]").count() == 1
        assert models.first.inner_text() == "gpt-4-turbo-2024-04-09"
        table.get_by_role("button", name="model").click()
        assert models.all_inner_texts() == alphabet
        board = page.locator("#leaderboard")
        for name in ("CSV", "Markdown"):
            file = board.get_by_role("link", name=name).get_attribute("href")
            assert (tmp_path / "mine" / str(file)).is_file()
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate(ACROSS) <= 390


def test_residuals_are_drawn_whole_whatever_their_size(
    browser: Browser, tmp_path: Path
) -> None:
    script = (ROOT / "lib/codestress/explore/points.js").read_text(encoding="utf-8")
    model = """
      const values = { x: [0, 1], y: [1, 0.5], curve: [[0, 0.3, 0.2, 0.4]], fitted: [0.3, 0.45] };
      const heard = {};
      window.model = { get: (name) => values[name], on: (name, act) => { heard[name] = act; },
        set: (name, value) => { values[name] = value; heard[`change:${name}`](); }, save_changes: () => {} };
      render({ model: window.model, el: document.body });
    """
    path = tmp_path / "points.html"
    begun = script.replace("export default { render };", model)
    body = f"<meta charset='utf-8'><body><script type='module'>{begun}</script>"
    path.write_text(body, encoding="utf-8")
    lines = "[...document.querySelectorAll('line[stroke-width=\"3\"]')]"
    stems = f"{lines}.map((one) => one.y1.baseVal.value - one.y2.baseVal.value)"
    with opened(browser, path.as_uri(), "file://") as page:
        labels = page.locator(".residual")
        expect(labels).to_have_text(["-70", "0", "70"])
        assert page.evaluate(stems) == pytest.approx([40, 40 * 0.05 / 0.7], abs=0.001)
        page.evaluate("model.set('fitted', [0.9, 0.45])")
        expect(labels).to_have_text(["-20", "0", "20"])
        assert page.evaluate(stems) == pytest.approx([20, 10], abs=0.001)


# Long, and in `make test`: nothing else there reads the addresses of filters.
def test_the_report_filters_claims_and_figures_and_keeps_it_in_the_address(
    browser: Browser, smoke: Path
) -> None:
    rows = "#ledger tbody tr:not(.fold):visible"
    with report(browser, smoke) as page:
        shown = page.locator(rows)
        claims = page.get_by_role("search", name="Claims")
        search = claims.get_by_label("Search")
        told = re.fullmatch(r"([\d,]+) of \1", claims.locator("output").inner_text())
        assert told is not None
        all_rows = int(told[1].replace(",", ""))
        assert all_rows > 500
        for number, found in (("23.2", r"23\.2"), ("78 %", r"\b78(\.\d+)? ?%")):
            search.fill(number)
            texts = shown.all_inner_texts()
            assert 0 < len(texts) < all_rows / 4
            assert all(re.search(found, text) for text in texts), number
        search.fill("")
        claims.get_by_label("Verdict").select_option("consistent")
        decided = shown.count()
        assert 0 < decided < all_rows
        expect(claims.locator("output")).to_have_text(f"{decided} of {told[1]}")
        search.fill("height turbo")
        texts = shown.all_inner_texts()
        assert 0 < len(texts) < decided
        assert all("turbo" in text for text in texts)
        filtered = page.url
    with opened(browser, filtered, "file://") as page:
        shown = page.locator(rows)
        assert shown.all_inner_texts() == texts
        claims = page.get_by_role("search", name="Claims")
        expect(claims.get_by_label("Search")).to_have_value("height turbo")
        figures = page.get_by_role("search", name="Figures")
        figures.get_by_label("Paper").select_option("faultloc")
        cards = page.locator("article.card:visible")
        papers = {card.get_attribute("data-paper") for card in cards.all()}
        assert papers == {"faultloc"}
        number = f"{cards.count()} of {page.locator('article.card').count()}"
        expect(figures.locator("output")).to_have_text(number)
        assert cards.locator("tbody tr").count() > 0
        assert page.locator("#cards tbody tr[hidden]").count() == 0
        image = cards.first.locator("img")
        loaded(image)
        assert len(image.get_attribute("alt") or "") > 60
        to_ledger = page.locator("a[href^='#ledger']")
        card = cards.filter(has=to_ledger).first
        name = str(card.get_attribute("id"))
        card.locator(to_ledger).click()
        expect(shown.first).to_be_in_viewport()
        for row in shown.all():
            assert name in str(row.get_attribute("data-figure")).split()
        shown.first.get_by_role("link", name=name, exact=True).click()
        expect(page.locator(f"[id='{name}'] h3")).to_be_in_viewport()
        page.goto(f"{address(smoke)}#ledger?figure=no/such")
        expect(claims.locator("output")).to_have_text(f"0 of {told[1]}")
        expect(claims.get_by_role("button")).to_be_visible()
        page.goto(f"{address(smoke)}#%E0%A4%A")  # no text in UTF-8


def test_marks_lead_by_keyboard_and_click_to_their_answers_or_a_number_s_source(
    browser: Browser, smoke: Path
) -> None:
    with report(browser, smoke) as page:
        card = page.locator("[id='origin/fig04']")
        spots = json.loads(card.locator(".picture").get_attribute("data-spots") or "")
        card.locator(".spot").focus()
        told = re.compile(rf"{re.escape(spots[0][5])}.*\b1\b.*\b{len(spots)}\b")
        expect(card.locator(".told")).to_have_text(told)
        own = next(number for number, spot in enumerate(spots) if spot[4] == "c1")
        for _ in range(own):
            page.keyboard.press("ArrowRight")
        counted = re.compile(r"sim-\w+.*\d+ of \d+ correct")
        expect(card.locator(".told")).to_contain_text(counted)
        page.keyboard.press("Enter")
        page.wait_for_url("**/origin/fig04/answers.html#c1")
        section = page.locator("#c1")
        expect(section.locator("h3")).to_be_in_viewport()
        expect(section.locator("h3")).to_contain_text(counted)
        expect(section.locator(".asked").first).not_to_be_empty()
        expect(section.locator(".said").first).to_contain_text("FINAL ANSWER")
        expect(section.locator(".answer code").first).to_be_visible()
        for name in ("c1", "published"):
            page.goto(address(smoke))
            spot = next(spot for spot in spots if spot[4] == name)
            click_spot(card.locator(".picture"), spot)
            page.wait_for_url(f"**/origin/fig04/answers.html#{name}")
        expect(page.locator("#published")).to_contain_text("pixels")


def focused(page: Page) -> str:
    """Where the link in focus leads."""
    return str(page.evaluate("document.activeElement.getAttribute('href')"))


def test_answers_are_reached_and_the_ledger_is_passed_by_the_keyboard_alone(
    browser: Browser, smoke: Path
) -> None:
    with report(browser, smoke) as page:
        paper = page.get_by_role("search", name="Figures").get_by_label("Paper")
        paper.select_option("origin")
        paper.focus()
        page.keyboard.press("Tab")
        assert "/answers.html#" in focused(page)  # the first mark of the picture
        page.keyboard.press("Tab")
        assert focused(page).endswith("/answers.html")
        page.keyboard.press("Enter")
        page.wait_for_url("**/answers.html")
        cell = page.locator(".cells a").first
        for _ in range(6):
            page.keyboard.press("Tab")
            if cell.evaluate("link => link === document.activeElement"):
                break
        page.keyboard.press("Enter")
        page.wait_for_url("**/answers.html#c1")
        expect(page.locator("#c1 .said").first).to_be_visible()
        page.goto(address(smoke))
        page.locator("article.card summary").last.focus()
        page.keyboard.press("Tab")
        assert focused(page) == "#run"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        inside = (
            "document.activeElement.closest('#claims, #figures') === null"
            " && document.activeElement !== document.body"
        )
        assert page.evaluate(inside)


@pytest.mark.parametrize("width", [390, 1400])
def test_the_report_is_readable_narrow_and_wide(
    browser: Browser, smoke: Path, width: int
) -> None:
    with report(browser, smoke, width) as page:
        assert page.evaluate(ACROSS) <= width
        page.get_by_role("link", name="Claims ledger").click()
        expect(page.get_by_role("heading", name="Claims ledger")).to_be_in_viewport()
        claim = "average degradation of output prediction, direct"
        row = page.locator("#ledger tbody tr", has_text=claim).first
        row.scroll_into_view_if_needed()
        cells = [cell for cell in row.locator("td").all() if cell.is_visible()]
        assert len(cells) == (4 if width == 390 else 8)
        texts = ("abstract", "23.2", "23.2", "inconclusive")
        for cell, told in zip(cells, texts, strict=False):
            expect(cell).to_contain_text(told)
            box = box_of(cell)
            assert box["x"] + box["width"] <= width
        page.goto((smoke / "smoke/origin/fig06/notebook.html").as_uri())
        assert page.evaluate(ACROSS) <= width


ACROSS = "document.documentElement.scrollWidth"
FONTS = Path("/usr/share/fonts/truetype")


@pytest.mark.parametrize(
    "family", slow(["all", "dejavu", "liberation"], "dejavu", "liberation")
)
def test_the_report_prints_a_summary_on_two_pages(
    playwright: Playwright, smoke: Path, tmp_path: Path, family: str
) -> None:
    """At most 80 % of each page is filled, so that a font which is wider still does not add a page."""
    environment = dict(os.environ)
    if family != "all":
        if not (FONTS / family).is_dir():
            pytest.skip(f"fonts-{family} is not installed")
        configuration = tmp_path / "fonts.conf"
        places = f"<dir>{FONTS / family}</dir><cachedir>{tmp_path / 'cache'}</cachedir>"
        configuration.write_text(f"<fontconfig>{places}</fontconfig>")
        environment["FONTCONFIG_FILE"] = str(configuration)
    with (
        browser_with(playwright, environment) as browser,
        report(browser, smoke, 794) as page,
    ):
        printed = page.pdf(format="A4", print_background=True)
        page.emulate_media(media="print")
        top = "document.querySelector('#claims').getBoundingClientRect().top"
        first = page.evaluate(top)
        both = page.evaluate("document.body.scrollHeight")
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) == 2
    assert max(first, both - first) < 0.8 * 1123


WORST = """() => {
  const light = (rgb) => {
    const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = rgb.map((value) => linear(value / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const parts = (text) => (text.match(/[0-9.]+/g) || []).map(Number);
  const behind = (node) => {
    for (let here = node; here; here = here.parentElement) {
      const colour = parts(getComputedStyle(here).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  let worst = 21;
  for (const node of document.querySelectorAll("body *")) {
    if (![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())) continue;
    const one = light(parts(getComputedStyle(node).color).slice(0, 3)), two = light(behind(node));
    worst = Math.min(worst, (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05));
  }
  return worst;
}"""
"""The least contrast of a text on a page."""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["index.html", "origin/fig04/answers.html", "origin/fig04/notebook.html"]
)
def test_texts_stand_out_from_their_background(
    browser: Browser, smoke: Path, name: str, scheme: Literal["light", "dark"]
) -> None:
    """WCAG 2.1, level AA: a contrast of 4.5 and more, for every text on the page; pictures stand on white."""
    place = (smoke / "smoke" / name).as_uri()
    with opened(browser, place, "file://", scheme=scheme) as page:
        if scheme == "dark":
            styles = "[...document.images].map((one) => getComputedStyle(one))"
            backgrounds = f"{styles}.map((style) => style.backgroundColor)"
            assert set(page.evaluate(backgrounds)) == {"rgb(255, 255, 255)"}
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert max(map(int, re.findall(r"\d+", colour))) < 64
        assert page.evaluate(WORST) >= 4.5
        page.emulate_media(media="print")
        assert page.evaluate(WORST) >= 4.5


@contextmanager
def serving(
    module: str, options: list[str], folder: Path, path: str, **environment: str
) -> Iterator[str]:
    """A page server of this environment, until the block is left; its address. `path` is asked until it answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}/"
    command = [sys.executable, "-m", module, "--no-browser", f"--port={port}", *options]
    log = folder / f"{module}.log"
    variables = {**os.environ, "CODESTRESS_OUTPUTS": str(folder), **environment}
    with log.open("w") as out:
        process = subprocess.Popen(command, env=variables, stdout=out, stderr=out)
    try:
        deadline = time.monotonic() + 180
        while True:
            assert process.poll() is None, log.read_text()[-2000:]
            assert time.monotonic() < deadline, log.read_text()[-2000:]
            try:
                urllib.request.urlopen(address + path, timeout=1).read()
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.3)
        yield address
    finally:
        process.terminate()
        process.wait(60)


def voila(notebook: Path, outputs: Path) -> AbstractContextManager[str]:
    """The notebook as a page of its own, with the options of `make explore`."""
    dry = ("make", "--no-print-directory", "--dry-run", "explore")
    commands = ran(*dry, cwd=ROOT, check=True)
    words = shlex.split(commands.stdout.partition("/voila")[2])
    options = [word for word in words if word.startswith("--")]
    assert any("extension_allowlist" in option for option in options)
    templates = str(ROOT / "lib" / "codestress" / "explore" / "jupyter")
    own = {"JUPYTER_PATH": templates, "TQDM_DISABLE": "1"}
    words = [str(notebook), *options]
    return serving("voila", words, outputs, "voila/static/", **own)


def dragged(page: Page) -> None:
    """Drags the first point down, then moves it by the keyboard: each time what is said of the fit changes."""
    said = page.locator("p[role=note]").last
    point = page.get_by_role("slider", name="right at x = 0")
    expect(point).to_be_visible()
    expect(said).to_contain_text("rate")

    def share() -> float:
        return float(point.get_attribute("aria-valuenow") or "nan")

    before, first = said.inner_text(), share()
    point.scroll_into_view_if_needed()
    box = box_of(point)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 70, steps=5)
    page.mouse.up()
    expect(said).not_to_have_text(before)
    after = share()
    assert after < first - 0.1
    before = said.inner_text()
    point.focus()
    for _ in range(9):
        page.keyboard.press("ArrowUp")
    expect(said).not_to_have_text(before)
    assert share() > after


@pytest.mark.slow
def test_explorers_are_found_have_their_controls_first_and_are_dragged(
    browser: Browser, tmp_path: Path, smoke: Path
) -> None:
    """The landing page has a picture of each; controls stand beside what they change, or above it on a phone."""
    folder = tmp_path / "explore"
    shutil.copytree(ROOT / "notebooks/explore", folder)
    for path in folder.glob("*.ipynb"):
        text = path.read_text("utf-8").replace('\\"demo\\"', '\\"smoke\\"')
        path.write_text(text, encoding="utf-8")
    with voila(folder, smoke) as address:
        with opened(browser, address, address, 1280) as page:
            cards = page.locator("a.card")
            links = [str(card.get_attribute("href")) for card in cards.all()]
            assert {link.rpartition("/")[2] for link in links} == {
                path.name for path in folder.glob("*.ipynb")
            }
            pictures = "[...document.images].map((one) => one.complete && one.naturalWidth > 300)"
            assert page.evaluate(pictures) == [True] * len(links)
            for card in cards.all():
                expect(card).to_be_in_viewport()
        for link in links:
            place = address.rstrip("/") + link
            for width in (1280, 390):
                with opened(browser, place, address, width) as page:
                    first = page.locator("select, input[type=checkbox]").first
                    views = "pre, .widget-html img, svg:has([role=slider])"
                    shown = page.locator(views).first
                    expect(first).to_be_visible()
                    expect(shown).to_be_visible()
                    one, other = box_of(first), box_of(shown)
                    if width == 1280:
                        assert one["x"] + one["width"] < other["x"], link
                        assert other["y"] < 600
                    else:
                        assert one["y"] + one["height"] < other["y"], link
                    assert other["x"] + other["width"] <= width
                    assert page.evaluate(ACROSS) <= width
                    assert page.locator("p[role=alert]").all_inner_texts() == []
                    assert page.locator("progress").count() == 0
                    cut = "boxes => boxes.some((box) => box.scrollWidth > box.clientWidth)"
                    assert not page.locator("select[size]").evaluate_all(cut)
                    assert page.get_by_text("Error displaying widget").count() == 0
                    if link.endswith("fit.ipynb") and width == 1280:
                        dragged(page)


def lab(folder: Path) -> AbstractContextManager[str]:
    """JupyterLab over a folder."""
    news = "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"
    options = ["--allow-root", "--IdentityProvider.token=", "--LabApp.news_url=None"]
    options += [news, f"--ServerApp.root_dir={folder}"]
    own = {"JUPYTER_CONFIG_DIR": str(folder / "config")}
    return serving("jupyterlab", options, folder, "api", **own)


def run_all_cells(page: Page, name: str) -> Locator:
    """Runs the notebook `name` when it is the one in front and its own kernel waits; returns its panel.

    JupyterLab ignores the menu while it still connects a kernel: it is used again until a cell has a number or waits
    for one.
    """
    page.locator(".jp-mod-current[role=tab]", has_text=f"{name}.ipynb").wait_for()
    panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    # A panel that has no kernel yet is idle too.
    expect(panel.locator(".jp-Toolbar-kernelName")).not_to_have_text("No Kernel")
    idle = ".jp-Notebook-ExecutionIndicator[data-status=idle]"
    expect(panel.locator(idle)).to_have_count(1)
    expect(page.get_by_role("button", name="| Idle")).to_be_visible()
    number = re.compile(r"\[(\*|\d+)\]")
    begun = panel.locator(".jp-InputPrompt", has_text=number)
    for _ in range(6):
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        with suppress(TimeoutError):
            begun.first.wait_for(timeout=20_000)
            return panel
    raise AssertionError(f"no cell of {name} was run")


@pytest.mark.slow
def test_a_point_is_dragged_in_jupyterlab(browser: Browser, tmp_path: Path) -> None:
    shutil.copy2(ROOT / "notebooks/explore/fit.ipynb", tmp_path)
    with (
        lab(tmp_path) as address,
        opened(browser, f"{address}lab/tree/fit.ipynb", address) as page,
    ):
        run_all_cells(page, "fit")
        dragged(page)


@pytest.mark.slow
@pytest.mark.release
def test_the_first_links_of_the_index_run_in_jupyterlab(
    browser: Browser, tmp_path: Path
) -> None:
    """Clicked in the index, then Run All: each publishes the artefact that it names."""
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    with (
        lab(tmp_path) as address,
        opened(browser, f"{address}lab/tree/notebooks/index.ipynb", address) as page,
    ):
        for number in range(3):
            page.get_by_role("tab", name="index.ipynb").click()
            link = page.locator(".jp-RenderedMarkdown td a").nth(number)
            name = str(link.get_attribute("href")).removesuffix(".ipynb")
            notebook = link.inner_text()
            artefact = about(ROOT / f"notebooks/{notebook}.ipynb").artefact
            link.click()
            panel = run_all_cells(page, notebook.split("/")[1])
            manifest = tmp_path / "lab" / artefact / "manifest.json"
            failed = panel.locator("[data-mime-type='application/vnd.jupyter.error']")
            ends = time.monotonic() + 1800  # of a notebook that hangs
            while not (manifest.is_file() or failed.count()):
                assert time.monotonic() < ends
                page.wait_for_timeout(500)
            outputs = panel.locator(".jp-OutputArea-output").all_inner_texts()
            assert manifest.is_file(), f"{name}: nothing was published\n{outputs}"
