"""The page in a headless Chromium: no error, it sorts and slides, and foreign text is text.

The tests wait by locators and addresses, and not by ``wait_for_function``: it evaluates a string
in the page, which the page's Content Security Policy refuses when the first poll is not true yet.
"""

import os
import shutil
import time
from pathlib import Path
from urllib.parse import unquote, urlparse

import numpy as np
import pytest
from reported import (
    DAY,
    HOSTILE,
    counts_of,
    documents_of,
    listed,
    mixture_rows,
    published,
    shares_of,
    stories_of,
    trends_of,
    written,
)

from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.relevance import topic_shares
from beam_topics.pipelines import report

pytestmark = pytest.mark.browser

CHROMIUM = os.environ.get("BEAM_TOPICS_CHROMIUM") or shutil.which("chromium") or ""
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if not CHROMIUM:
        pytest.skip("there is no chromium on the path; BEAM_TOPICS_CHROMIUM names another one")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


def page_at(folder, with_documents=True, change=list, with_rows=True, **sizes):
    """The page of a store with mixtures and documents; ``change`` makes other rows of mixtures."""
    pytest.importorskip("jinja2")
    store = published(folder / "models", **sizes)
    rows = change(mixture_rows(store, 60 if not sizes else 2000, sizes.get("topics", 5)))
    written(folder / "mixtures", rows)
    trends_of(folder / "trends")
    stories_of(folder / "trends")
    documents_of(folder / "documents.jsonl", rows)
    output = folder / "report.html"
    given = [f"--model_store={folder / 'models'}", f"--mixtures={folder / 'mixtures'}",
             f"--documents={folder / 'documents.jsonl'}", f"--output={output}"]  # fmt: skip
    given += [f"--rows={folder / 'trends'}"] * with_rows
    if not with_documents:
        given = [given[0], f"--output={output}"]
    assert report.main(given) == 0
    return output


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    return page_at(tmp_path_factory.mktemp("page")).as_uri()


@pytest.fixture
def tab(browser, address):
    """Opens a view; in the end nothing may have been written to the console."""
    told = []
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on(
        "request",
        lambda request: told.append(request.url) if request.url.startswith("http") else None,
    )

    def view(route="", width=1200):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto("about:blank")
        page.goto(f"{address}#/{route}")
        page.wait_for_selector("main h1")
        return page

    yield view
    assert told == []
    context.close()


VIEWS = ["", "topic/0", "topic/1", "word/0", "word/3", "document/0", "documents", "time", "health"]


NOW = "main section:has(h2:text-is('Now'))"


@pytest.mark.parametrize("width", [1440, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_now_tells_the_last_window_with_links_and_fits(browser, address, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = browser.new_context(
        color_scheme=scheme, bypass_csp=True, viewport={"width": width, "height": 900}
    )
    page = context.new_page()
    page.goto(address)
    section = page.locator(NOW)
    assert "100 documents from 1970-01-20 to 1970-01-21." in section.inner_text()
    rising = section.locator("h3:text-is('Above expectation') ~ ul li")
    assert "about 60 documents, 16 expected (p < .0001)" in rising.inner_text()
    assert rising.count() == 1
    burst = section.locator("h3:text-is('Bursts of the last windows') ~ ul li")
    told = burst.inner_text()
    assert told.startswith("1970-01-20 ") and f": {HOSTILE[0]} 19" in told
    assert page.evaluate("document.documentElement.scrollWidth") == width
    box = section.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= width and box["y"] < 900
    found = axe.run(page).response["violations"]
    assert [v["id"] for v in found if v["impact"] in ("serious", "critical")] == []
    burst.locator("a").first.click()
    page.wait_for_url(lambda url: urlparse(url).fragment == "/topic/1")
    context.close()


def test_stories_of_the_last_window_are_told_as_text(tab):
    page = tab()
    told = page.locator(f"{NOW} h3:text-is('Stories') ~ ul li")
    assert told.count() == 2
    first = told.nth(0).inner_text()
    assert first.startswith(f"1970-01-03 {HOSTILE[0]} flood: 30 documents, 9 in the last window")
    assert HOSTILE[1] in first and told.nth(0).locator("a").count() == 2
    told.nth(0).locator("a").first.click()
    page.wait_for_url(lambda url: urlparse(url).fragment.startswith("/document/"))
    assert f"{HOSTILE[4]} 4" in page.inner_text("main .lead")


def test_the_overview_tells_of_topics_before_new_words(tab):
    told = tab().locator("main section", has_text="All events").locator("ul.events li .tag")
    assert told.all_inner_texts() == ["change"] * 3 + ["words changed"]


MISSING = ["topic/99", "word/x", "time/3000", "nothing", "constructor", "%zz"]


@pytest.mark.parametrize("route", [*VIEWS, *MISSING])
def test_a_view_is_shown_without_an_error(tab, route):
    page = tab(route)
    heading = page.inner_text("main h1")
    assert (heading == "Not here") == (route in MISSING)


def test_the_slider_orders_the_words_by_relevance(tab):
    page = tab("topic/2")
    words = "ol.words >> nth=0 >> li a"

    def after(value):
        page.locator("#lambda").fill(str(value))
        assert page.inner_text("output") == f"{value:.2f}"
        return page.locator(words).all_inner_texts()

    shares = [
        float(text.removesuffix(" %"))
        for text in after(1) and page.locator("ol.words >> nth=0 >> li .number").all_inner_texts()
    ]
    frequent, exclusive = after(1), after(0)
    assert shares == sorted(shares, reverse=True) and len(frequent) == 20
    assert frequent != exclusive
    assert after(1) == frequent


def test_a_heading_sorts_and_sorts_back(tab):
    page = tab()
    cells, heads = (
        "main table >> nth=0 >> tbody tr td:first-child",
        "main table >> nth=0 >> thead th",
    )
    first = page.locator(heads).nth(0)
    first.locator("button").click()
    assert page.locator(cells).all_inner_texts() == ["4", "3", "2", "1", "0"]
    assert first.get_attribute("aria-sort") == "descending"
    first.locator("button").press("Enter")
    assert page.locator(cells).all_inner_texts() == ["0", "1", "2", "3", "4"]
    assert first.get_attribute("aria-sort") == "ascending"


def number(text):
    """A figure of the page, shares as fractions."""
    return float(text.removesuffix("%").strip().replace(",", "")) / (100 if "%" in text else 1)


def columns(page, caption):
    """The cells of a table by the names of its columns."""
    table = page.locator(f"table:has(caption:text-is('{caption}'))")
    heads = table.locator("thead th").all_inner_texts()
    rows = [row.locator("td, th").all_inner_texts() for row in table.locator("tbody tr").all()]
    return {head.strip(): [row[n] for row in rows] for n, head in enumerate(heads)}


def test_the_figures_that_are_shown_are_those_of_the_store_and_the_mixtures(tab, address):
    """To the digits that are shown; test_figures.py compares what lies below to 1e-9."""
    store = ModelStore(str(Path(unquote(urlparse(address).path)).parent / "models"))
    rows, shares = mixture_rows(store), topic_shares(store.get_snapshot(store.manifest("")))
    page = tab()
    shown = columns(page, "All topics; a heading sorts")
    found = dict(zip(map(int, shown["Topic"]), map(number, shown["Share"]), strict=True))
    assert [found[topic] for topic in range(5)] == pytest.approx(shares.tolist(), abs=0.0051)
    page = tab("topic/1")
    (caption,) = [
        one for one in page.locator("caption").all_inner_texts() if one.startswith("Mean share of")
    ]
    shown = columns(page, caption)
    documents = list(map(number, shown["Documents"]))
    assert sum(documents) == len(rows)
    mean = np.dot(documents, list(map(number, shown["Mean share"]))) / len(rows)
    assert mean == pytest.approx(np.mean([shares_of(row)[1] for row in rows]), abs=0.0051)
    page = tab("health")
    shown = columns(page, "Documents that were labelled, and their known tokens")
    assert sum(map(number, shown["Tokens"])) == sum(row["tokens"] for row in rows)
    shown = columns(page, "Versions of the model")
    versions = [manifest.version for manifest in store.manifests("")]
    assert sorted(shown["Version"]) == sorted(versions)


def test_hostile_text_is_text(tab):
    page = tab("word/0")
    found = []
    for number in range(40):
        page.evaluate(f"location.hash = '#/word/{number}'")
        page.locator("main h1").wait_for()
        found.append(page.evaluate("document.querySelector('main h1 bdi')?.textContent"))
    for text in HOSTILE:
        assert text in found or any(t and t.startswith(text[:200] + "…") for t in found), text[:40]
    assert page.title().endswith("Topics")
    assert page.evaluate("document.querySelectorAll('img').length") == 0


def test_hostile_documents_are_text(tab):
    page = tab("documents")
    names = page.locator("td bdi").all_text_contents()
    assert any("<script>" in name for name in names) and any("\u202e" in name for name in names)
    page.locator("td a").first.click()
    assert "more of it" in page.inner_text("p.text") or "characters" in page.inner_text("p.text")
    assert page.evaluate("document.querySelectorAll('img').length") == 0


@pytest.mark.parametrize("route", VIEWS)
def test_a_narrow_screen_does_not_scroll_sideways(tab, route):
    page = tab(route, width=360)
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_search_finds_by_keyboard(tab):
    page = tab()
    page.keyboard.press("Control+k")
    page.keyboard.type("word1")
    options = page.locator("#found [role=option]")
    assert options.count() >= 2 and page.inner_text("#status").endswith("results")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#search", "aria-activedescendant") == "found-1"
    wanted = options.nth(1).locator("bdi").inner_text()
    page.keyboard.press("Enter")
    page.locator("main h1").get_by_text(wanted, exact=True).wait_for()
    assert urlparse(page.url).fragment
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Control+k")
    page.keyboard.type("no such thing")
    assert options.count() == 0 and page.inner_text("#status") == "0 results"
    page.keyboard.press("Escape")
    assert page.get_attribute("#search", "aria-expanded") == "false"


def test_a_period_tells_what_was_new(tab):
    page = tab("time")
    page.select_option("#from", index=0)
    page.wait_for_url(lambda url: urlparse(url).fragment == "/time/1970-01..1970-06")
    page.select_option("#to", index=0)
    page.wait_for_url(lambda url: urlparse(url).fragment == "/time/1970-01")
    new = page.locator("main section >> nth=0")
    new.filter(has_text=f"{HOSTILE[0]} 9 up to 1970-01-31, none before").wait_for()
    page.select_option("#to", "1970-03")
    page.select_option("#from", "1970-03")
    later = "9 up to 1970-03-02, 1 before, the first by 1970-01-31"
    new.filter(has_text=f"{HOSTILE[0]} {later}").wait_for()


def test_a_drag_chooses_the_periods_of_all_sections(tab, address):
    """The first half of the chart is dragged over; its periods filter shares and documents."""
    store = ModelStore(str(Path(unquote(urlparse(address).path)).parent / "models"))
    page = tab("time")
    box = page.locator(".chart .u-over").bounding_box()
    page.mouse.move(box["x"] + 1, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 60, steps=4)
    page.mouse.up()
    page.wait_for_url(lambda url: urlparse(url).fragment == "/time/1970-01..1970-03")
    rows = [row for row in mixture_rows(store) if row["timestamp"] < "1970-04"]
    assert f"{len(rows)} documents labelled" in page.inner_text("main .lead")
    shown = columns(page, "Mean share of the documents, and that of as many periods before")
    found = dict(zip(shown["Topic"], map(number, shown["Share"]), strict=True))
    wanted = np.mean([shares_of(row) for row in rows], axis=0)
    assert sorted(found.values()) == pytest.approx(sorted(wanted), abs=0.0051)
    page.locator("main button.more").click()
    dates = columns(page, "Documents in this report; a heading sorts")["Date"]
    assert len(dates) == len(rows) and max(dates) < "1970-04"
    page.reload()
    selected = page.locator(".chart .u-select").bounding_box()
    assert selected["width"] > 0.3 * box["width"]


def test_groups_of_documents_are_told_as_text(browser, tmp_path):
    page = browser.new_page()
    trends_of(tmp_path / "trends", windows=200, group=HOSTILE[0])
    page.goto(f"{page_at(tmp_path).as_uri()}#/time/1970-01")
    table = page.locator("main table", has_text="Mean share of the documents of each group")
    heads = table.locator("thead th").all_inner_texts()
    assert set(heads) == {"Topic", HOSTILE[0], "(none)"}
    cells = table.locator("tbody tr").nth(0).locator("td").all_inner_texts()
    assert number(cells[heads.index(HOSTILE[0])]) == pytest.approx(0.16, abs=0.0051)
    page.close()


def test_documents_are_filtered_by_all_words_of_a_box(tab):
    page = tab("documents")
    rows = page.locator("main tbody tr")
    every = rows.count()
    page.fill("#filter", "1970-03 SCRIPT")
    page.locator("output[for=filter]", has_text="document").wait_for()
    dates = page.locator("main tbody tr td:first-child").all_inner_texts()
    assert 0 < len(dates) < every and all(one.startswith("1970-03") for one in dates)
    page.fill("#filter", "no such words")
    page.locator("output[for=filter]", has_text="0 documents").wait_for()
    assert rows.count() == 0


_DASHES = """
const plain = CanvasRenderingContext2D.prototype.setLineDash;
window.dashes = [];
CanvasRenderingContext2D.prototype.setLineDash = function (dash) {
  window.dashes.push(dash.length);
  plain.call(this, dash);
};
"""


# The last version ends with 24 or with 30 June.
@pytest.mark.parametrize(("days", "unfinished"), [(29, True), (30, False)])
def test_an_unfinished_period_is_dashed_and_said(browser, tmp_path, days, unfinished):
    page = browser.new_page()
    page.add_init_script(_DASHES)
    page.goto(page_at(tmp_path, step=days * DAY).as_uri())
    told = "1970-06 is unfinished, and dashed."
    assert page.locator("caption").filter(has_text=told).count() == unfinished
    dashed = [each.get_attribute("points").split() for each in page.locator(".open").all()]
    assert {len(points) for points in dashed} == ({2} if unfinished else set())
    page.goto(f"{page.url}#/topic/0")
    page.locator(".chart canvas >> nth=0").wait_for()
    label = page.locator(".chart >> nth=0").get_attribute("aria-label")
    assert (told in label) == unfinished
    assert any(page.evaluate("window.dashes")) == unfinished
    page.close()


def test_topics_that_are_alike_are_marked(browser, tmp_path, monkeypatch):
    counts = counts_of(1, words=40)
    counts[:, 4] = counts[:, 2]
    monkeypatch.setattr("reported.counts_of", lambda *_: counts)
    page = browser.new_page()
    page.goto(page_at(tmp_path).as_uri())
    rows = page.locator("main table >> nth=0 >> tbody tr:has(.mark)").all_inner_texts()
    assert sorted(text.split()[0] for text in rows) == ["2", "4"]
    page.goto(f"{page.url}#/topic/2")
    page.locator(".lead .mark").filter(has_text="like 4 (distance 0.00)").wait_for()
    page.close()


def test_colours_follow_the_system_and_the_button(browser, address):
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(f"{address}#/topic/0")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    page.click("#colours")
    light = page.evaluate(background)
    page.click("#colours")
    assert dark != light and page.evaluate(background) == dark
    page.emulate_media(media="print")
    assert not page.is_visible("#search")
    context.close()


def test_without_scripts_the_topics_are_there(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("main tbody tr").count() == 5
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("route", VIEWS)
def test_axe_finds_nothing_serious(browser, address, route, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    # axe is put into the page, which its policy forbids.
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    page.goto(f"{address}#/{route}")
    page.wait_for_selector("main h1")
    found = axe.run(page).response["violations"]
    bad = [
        (v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] in ("serious", "critical")
    ]
    assert bad == []
    context.close()


def test_a_burst_is_on_the_overview_its_topic_and_its_period(browser, tmp_path):
    """All documents have even shares, but for those of one period, which topic 1 has."""

    def planted(rows):
        at = rows[len(rows) * 9 // 10]["timestamp"][:7]
        even, burst = [0.2] * 5, [0.05, 0.8, 0.05, 0.05, 0.05]
        return [{**row, **listed(burst if row["timestamp"][:7] == at else even)} for row in rows]

    path, page = page_at(tmp_path, change=planted, with_rows=False, versions=20), browser.new_page()
    page.goto(path.as_uri())
    section = "main section:has(h2:text-is('Bursts'))"
    first = page.locator(f"{section} li").first
    assert page.locator(f"{section} li").count() == 1 and "expected" in first.inner_text()
    told = first.inner_text()
    first.locator("a[href='#/topic/1']").click()
    page.wait_for_url(lambda url: urlparse(url).fragment == "/topic/1")
    assert page.inner_text(f"{section} li") == told
    page.goto(f"{path.as_uri()}#/topic/0")
    assert "No period" in page.inner_text(section)
    page.close()


@pytest.mark.parametrize("with_documents", [True, False])
def test_fifty_topics_and_a_hundred_versions_open_within_two_seconds(
    browser, tmp_path, with_documents
):
    words = tuple(f"word{n}" for n in range(2000))
    path = page_at(tmp_path, with_documents, versions=100, topics=50, words=words)
    assert path.stat().st_size < 5_000_000
    page = browser.new_page()
    began = time.monotonic()
    page.goto(path.as_uri())
    page.wait_for_selector("main .map circle")
    assert time.monotonic() - began < 2
    page.close()


@pytest.fixture
def following(browser, tmp_path):
    """A page that a service serves, its store, and what the console says; none of it in the end."""
    for package in ("httpx", "uvicorn", "starlette", "prometheus_client"):
        pytest.importorskip(package)
    from serving import serving

    from beam_topics.model.inference import Gibbs3
    from beam_topics.pipelines.service.models import Models

    store, said = published(tmp_path / "models"), []
    with serving(Models(store.root, Gibbs3(), 100), poll=0.02) as (host, port):
        context = browser.new_context(viewport={"width": 1000, "height": 500})
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"http://{host}:{port}/#/word/9")
        page.locator("#followed").wait_for()
        yield page, store
        context.close()
    assert said == []


def published_next(store, manifest, **changes):
    from serving import publish_next

    return publish_next(store, manifest, **changes)


def test_an_open_page_follows_and_the_reader_keeps_the_place(following):
    page, store = following
    line, manifest = page.locator("#followed"), store.manifest("")
    assert manifest.version in line.inner_text() and "new topic" not in line.inner_text()
    word = page.inner_text("main h1")
    page.locator("main a").last.focus()
    page.evaluate("scrollTo(0, 150)")
    # The words of this version have other places.
    snapshot = store.get_snapshot(manifest)
    before = store.manifests("")[0]
    version = published_next(store, before)
    line.filter(has_text=version).wait_for()
    assert "new topic" not in line.inner_text()
    page.wait_for_timeout(100)
    assert page.evaluate("scrollY") == 150
    assert page.inner_text("main h1") == word and word in snapshot.words
    assert page.evaluate("document.activeElement.matches('main a')")
    assert version in page.inner_text("footer")
    # Results of a search that is open are those of the new figures.
    page.fill("#search", "word1")
    page.locator("#found [role=option]").first.wait_for()
    later = published_next(store, manifest)
    line.filter(has_text=later).wait_for()
    assert page.input_value("#search") == "word1"
    assert page.locator("#found [role=option]").count() > 1
    page.goto(page.url.partition("#")[0] + "#/")
    assert page.locator(".tiles div", has_text="versions").locator("dd").inner_text() == "8"


LEAVE = """hidden => {
    const value = hidden ? "hidden" : "visible";
    Object.defineProperty(document, "visibilityState", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_topics_that_came_or_ended_since_the_last_look_are_counted(following):
    page, store = following
    line, manifest = page.locator("#followed"), store.manifest("")
    seen = manifest.version
    # Another visit: what the page showed when it was left is kept.
    page.reload()
    line.filter(has_text=seen).wait_for()
    assert "since" not in line.inner_text().lower()
    page.evaluate(LEAVE, True)
    version = published_next(store, manifest, topic_ids=[0, 1, 7, 8, 4])
    page.evaluate(LEAVE, False)
    line.filter(has_text=f"Version {version}").wait_for()
    told = f"Since version {seen}, which you saw last: 2 new topics: "
    assert told in line.inner_text()
    links = line.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert links == ["#/topic/7", "#/topic/8"]
    assert "; 2 ended: " in line.inner_text() and "0 bursts." in line.inner_text()
    page.evaluate(LEAVE, True)
    page.evaluate(LEAVE, False)
    assert "Since" not in line.inner_text()


def test_an_open_page_follows_the_windows_that_a_run_writes(following):
    page, store = following
    page.goto(page.url.partition("#")[0] + "#/")
    page.locator("main h1").wait_for()
    assert page.locator(NOW).count() == 0
    page.evaluate(LEAVE, True)
    folder = Path(store.root).parent / "trends"
    folder.mkdir()
    (folder / "trends-damaged.jsonl").write_text("{")
    trends_of(folder, windows=19, burst=None)
    page.evaluate(LEAVE, False)
    page.locator(NOW, has_text="100 documents from 1970-01-19 to 1970-01-20.").wait_for()
    page.evaluate(LEAVE, True)
    trends_of(folder, windows=1, start=19)
    page.evaluate(LEAVE, False)
    page.locator(NOW, has_text="100 documents from 1970-01-20 to 1970-01-21.").wait_for()
    line = page.locator("#followed")
    assert "0 new topics; 0 ended; 1 burst: " in line.inner_text()
    assert line.locator("a").get_attribute("href") == "#/topic/1"


@pytest.mark.parametrize("width", [1000, 360])
def test_the_line_of_a_page_that_follows_is_seen_and_fits(following, width):
    page, _ = following
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    box = page.locator("#followed").bounding_box()
    assert box["x"] >= 0 and box["y"] < 250
