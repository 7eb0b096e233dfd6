"""The page in a headless Chromium: no error, it sorts and slides, and foreign text is text.

The tests wait by locators and addresses, and not by ``wait_for_function``: it evaluates a string
in the page, which the page's Content Security Policy refuses when the first poll is not true yet.
"""

import csv
import json
import os
import shutil
import time
from pathlib import Path
from urllib.parse import quote, unquote, urlparse

import numpy as np
import pytest
from reported import (
    DAY,
    HOSTILE,
    WORDS,
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

from beam_topics.model.publishing.catalogue import CatalogueStore
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


def page_at(folder, with_documents=True, change=list, with_rows=True, given=(), **sizes):
    """The page of a store with mixtures and documents; ``change`` makes other rows of mixtures."""
    pytest.importorskip("jinja2")
    store = published(folder / "models", **sizes)
    rows = change(mixture_rows(store, 60 if not sizes else 2000, sizes.get("topics", 5)))
    written(folder / "mixtures", rows)
    trends_of(folder / "trends")
    stories_of(folder / "trends")
    documents_of(folder / "documents.jsonl", rows)
    output = folder / "report.html"
    given = [*given, f"--model_store={folder / 'models'}", f"--mixtures={folder / 'mixtures'}",
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


NAMES = [f"word/{quote(HOSTILE[1], safe='')}", "word/word3", f"document/{quote(HOSTILE[4])}%204"]
VIEWS = ["", "topic/0", "topic/1", *NAMES, "documents", "time", "health"]


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


MISSING = ["topic/99", "topic/x", "word/0", "document/0", f"{NAMES[2]}/5", "time/3000", "nothing"]
MISSING += ["constructor", "%zz"]


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
    page = tab("word/word0")
    found = []
    texts = json.loads(page.locator("#figures").text_content())["words"]["text"]
    for text in texts:
        page.evaluate("text => { location.hash = `#/word/${encodeURIComponent(text)}`; }", text)
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
    page.locator("td a[href^='#/document/']").first.click()
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
    page.locator("main button.more", has_text="Show all").click()
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


def grouped(path, rows):
    """Documents of three teams, one without a name, as ``documents_of`` writes them."""
    groups = [HOSTILE[0], "b", None]
    made = [{**row, "text": "unknown", "team": groups[n % 3]} for n, row in enumerate(rows)]
    path.write_text("\n".join(map(json.dumps, made)) + "\n")


def test_without_rows_of_groups_topics_are_split_by_those_of_the_sample(
    browser, tmp_path, monkeypatch
):
    monkeypatch.setattr(f"{__name__}.documents_of", grouped)
    path, page = page_at(tmp_path, given=["--group_field=team"]), browser.new_page()
    page.goto(f"{path.as_uri()}#/time/1970-01..1970-03")
    figures = json.loads(page.locator("#figures").text_content())["documents"]
    months = np.array(figures["time"], "datetime64[ms]").astype("datetime64[M]")
    some = [n for n in figures["sample"] if months[n] <= np.datetime64("1970-03")]
    shown = columns(page, f"Mean share in {len(some)} documents of the sample by group")
    assert set(shown) == {"Topic", HOSTILE[0], "b", "(none)"}
    for name in (HOSTILE[0], "b", "(none)"):
        own = [n for n in some if (figures["group"][n] or "(none)") == name]
        wanted = [np.mean([dict(figures["mixture"][n]).get(z, 0) for n in own]) for z in range(5)]
        assert sorted(map(number, shown[name])) == pytest.approx(sorted(wanted), abs=0.0051)
    # Documents without a label are not split by it.
    assert "Labels" not in page.locator("main h2").all_inner_texts()
    page.close()


def test_documents_are_filtered_by_all_words_of_a_box(tab):
    page = tab("documents")
    rows = page.locator("table:has(caption:text('Documents in')) tbody tr")
    every = rows.count()
    page.fill("#filter", "1970-03 SCRIPT")
    page.locator("output[for=filter]", has_text="document").wait_for()
    dates = rows.locator("td:first-child").all_inner_texts()
    assert 0 < len(dates) < every and all(one.startswith("1970-03") for one in dates)
    page.fill("#filter", "no such words")
    page.locator("output[for=filter]", has_text="0 documents").wait_for()
    assert rows.count() == 0


def test_documents_are_filtered_by_topic_label_and_time(tab):
    page = tab("documents")
    figures = json.loads(page.locator("#figures").text_content())["documents"]
    days = [np.datetime64(time, "ms").astype("datetime64[D]") for time in figures["time"]]
    first, last = np.datetime64("1970-02-01"), np.datetime64("1970-04-01")
    chosen = [dict(one) for n, one in enumerate(figures["mixture"]) if first <= days[n] <= last]
    shares = [one[2] for one in chosen if one.get(2, 0) >= 0.1]
    assert 0 < len(shares) < len(chosen) < len(days)
    page.select_option("select[name=topic]", "2")
    page.select_option("select[name=label]", HOSTILE[0])
    page.fill("input[name=from]", "1970-02-01")
    page.fill("input[name=to]", "1970-04-01")
    page.locator("output[for=filter]", has_text=f"{len(shares)} documents").wait_for()
    shown = columns(page, "Documents in this report; a heading sorts")
    assert sorted(map(number, shown["Share"])) == pytest.approx(sorted(shares), abs=0.0051)
    shown = columns(page, f"Mean shares in {len(shares)} documents of the sample")
    assert max(map(number, shown["Mean share"])) >= np.mean(shares) - 0.0051
    # The choice stays where the reader comes back.
    page.locator("main td a").first.click()
    page.go_back()
    page.locator("output[for=filter]", has_text=f"{len(shares)} documents").wait_for()


def test_documents_are_filtered_by_group(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.documents_of", grouped)
    path, page = page_at(tmp_path, given=["--group_field=team"]), browser.new_page()
    page.goto(f"{path.as_uri()}#/documents")
    group = page.locator("select[name=group]")
    assert group.locator("option").all_inner_texts() == ["all", HOSTILE[0], "b"]
    assert page.locator("select[name=label]").count() == 0
    group.select_option(HOSTILE[0])
    page.locator("output[for=filter]", has_text="20 documents").wait_for()
    page.locator("table:has(caption:text('Documents in this')) td a").first.click()
    page.locator("main .lead", has_text=f", group {HOSTILE[0]}.").wait_for()
    page.close()


def test_links_hold_in_another_page_of_the_model(browser, address, tmp_path, monkeypatch):
    """The other page has words in another order, and lacks some documents."""
    page = browser.new_page()
    page.goto(f"{address}#/topic/2")
    links = page.locator("main :is(a[href^='#/word/'], a[href^='#/document/'])")
    links.first.wait_for()
    routes = dict.fromkeys(links.evaluate_all("all => all.map(one => one.getAttribute('href'))"))
    shown = {}
    for route in routes:
        page.goto(f"{address}{route}")
        named = "main h1" if "/word/" in route else "main .lead"
        shown[route] = named, page.inner_text(named)
    words = page.evaluate("() => JSON.parse(document.getElementById('figures').text).words.text")
    monkeypatch.setattr("reported.counts_of", lambda *_: counts_of(11))
    kept = sorted(unquote(route).rpartition("/")[0][11:] for route in routes if "/doc" in route)
    path = page_at(tmp_path, change=lambda rows: [row for row in rows if row["id"] != kept[0]])
    page.goto(path.as_uri())
    page.locator("main .map circle").first.wait_for()
    other = page.evaluate("() => JSON.parse(document.getElementById('figures').text).words.text")
    assert other != words and len(kept) >= 3
    for route, (named, text) in shown.items():
        page.goto(f"{path.as_uri()}{route}")
        if unquote(route).rpartition("/")[0][11:] == kept[0]:
            assert page.inner_text("main h1") == "Not here"
        else:
            assert page.inner_text(named) == text
    page.close()


def test_a_mean_of_numeric_labels_is_weighted_by_shares(browser, tmp_path, monkeypatch):
    """The label of a document is its number; documents are written by the mixtures' rows."""

    def numbered(path, rows):
        made = [{**row, "text": "unknown", "label": str(n)} for n, row in enumerate(rows)]
        path.write_text("\n".join(map(json.dumps, made)) + "\n")

    monkeypatch.setattr(f"{__name__}.documents_of", numbered)
    path, page = page_at(tmp_path), browser.new_page()
    rows = mixture_rows(ModelStore(str(tmp_path / "models")))
    page.goto(path.as_uri())
    shares = np.array([shares_of(row) for row in rows])
    shares[shares < 0.01] = 0
    shown = columns(page, "All topics; a heading sorts")
    found = dict(zip(map(int, shown["Topic"]), map(number, shown["Mean label"]), strict=True))
    wanted = (shares * np.arange(len(rows))[:, None]).sum(axis=0) / shares.sum(axis=0)
    assert [found[topic] for topic in range(5)] == pytest.approx(wanted, abs=0.0051)
    page.goto(f"{path.as_uri()}#/time/1970-01")
    page.locator("main h1", has_text="What came in 1970-01").wait_for()
    rows_of = page.locator("table:has(caption:text('Mean share of the documents,')) tbody tr")
    cells = rows_of.locator("td:last-child").all_inner_texts()
    told = [number(text) for text in cells if text != "–"]
    assert told and max(told) < len(rows) / 3
    page.close()


def test_words_of_a_text_are_marked_by_their_topic(browser, tmp_path, monkeypatch):
    def about(path, rows):
        made = [{**row, "text": "Word9 unknown <b>word10"} for row in rows]
        path.write_text("\n".join(map(json.dumps, made)) + "\n")

    counts = counts_of(1, words=40)
    counts[WORDS.index("word9")] = [900, 0, 0, 0, 0]
    counts[WORDS.index("word10")] = [0, 900, 0, 0, 0]
    monkeypatch.setattr("reported.counts_of", lambda *_: counts)
    monkeypatch.setattr(f"{__name__}.documents_of", about)
    shares = listed([0.4, 0.6, 0, 0, 0])
    path = page_at(tmp_path, change=lambda rows: [{**row, **shares} for row in rows])
    page = browser.new_page()
    page.goto(f"{path.as_uri()}#/{NAMES[2]}")
    marks = page.locator("p.text mark")
    assert marks.all_inner_texts() == ["Word9", "word10"]
    names = page.locator("main td a").all_inner_texts()
    listed_first = page.locator("main td .key").evaluate_all("all => all.map(k => k.className)")
    for mark, text in zip(marks.all(), ("word9", "word10"), strict=True):
        at = names.index(mark.get_attribute("title"))
        assert mark.get_attribute("class") in listed_first[at] and text in names[at]
    page.close()


def test_a_table_is_saved_as_figures_and_no_formula(tab):
    page = tab("documents")
    with page.expect_download() as saved:
        page.locator("button:text-is('Save as CSV')").last.click()
    text = Path(saved.value.path()).read_text("utf-8-sig")
    head, *rows = csv.reader(text.splitlines())
    assert saved.value.suggested_filename == "documents-in-this-report-a-heading-sorts.csv"
    assert head == ["Date", "Document", "Largest topic", "Share", "Tokens"]
    assert len(rows) == 60 and all(0 < float(row[3]) <= 1 for row in rows)
    assert len({row[3] for row in rows}) > 50 and "\u202e" not in text


def test_every_topic_of_fifty_is_named_on_the_map(browser, tmp_path):
    words = tuple(f"word{n}" for n in range(400))
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(page_at(tmp_path, False, topics=50, words=words).as_uri())
    page.locator(".map circle").first.wait_for()
    assert page.locator(".map text").count() == page.locator(".map circle").count() == 50
    page.set_viewport_size({"width": 360, "height": 900})
    page.locator(".map li").first.wait_for()
    assert page.locator(".map li a").count() == 50 and page.locator(".map circle").count() == 0
    page.close()


def test_a_tree_has_every_topic_once_and_near_ones_together(browser, tmp_path, monkeypatch):
    """Topics 0 and 3 have nearly the same words."""
    counts = counts_of(1, words=40)
    counts[:, 3] = counts[:, 0] + 1
    monkeypatch.setattr("reported.counts_of", lambda *_: counts)
    page = browser.new_page()
    page.goto(page_at(tmp_path, False).as_uri())
    page.get_by_text("The topics as a tree").click()
    tree = page.locator("details:has(> summary:text-is('The topics as a tree'))")
    read = "all => all.map(a => a.getAttribute('href'))"
    found = tree.locator("a").evaluate_all(read)
    assert sorted(found) == [f"#/topic/{n}" for n in range(5)]
    smallest = tree.locator("details:not(:has(details)):has(a[href='#/topic/0'])")
    assert sorted(smallest.locator("a").evaluate_all(read)) == ["#/topic/0", "#/topic/3"]
    page.close()


_COLOURED = """at => {
  const canvas = document.querySelector(".chart canvas");
  const over = document.querySelector(".chart .u-over");
  const [a, b] = [canvas, over].map(one => one.getBoundingClientRect());
  const scale = canvas.width / a.width;
  const x = Math.round((b.left - a.left + at * b.width) * scale);
  const { data } = canvas.getContext("2d").getImageData(x, 0, 1, canvas.height);
  let found = 0;
  for (let n = 0; n < data.length; n += 4) {
    const pixel = data.slice(n, n + 3);
    found += data[n + 3] > 200 && Math.max(...pixel) - Math.min(...pixel) > 60;
  }
  return found;
}"""


@pytest.mark.parametrize("gap", [True, False])
def test_a_period_without_documents_is_a_gap_in_time(browser, tmp_path, gap):
    """April has no document: no line leads to it or from it."""

    def without(rows):
        return [row for row in rows if not gap or row["timestamp"][:7] != "1970-04"]

    page = browser.new_page()
    page.goto(f"{page_at(tmp_path, change=without, with_rows=False).as_uri()}#/time")
    page.locator(".chart canvas").wait_for()
    page.locator("figure summary").first.click()
    table = page.locator("figure table").first
    cells = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
    times = [np.datetime64(one[0]).astype(float) for one in cells]
    april = page.locator("#from option").all_inner_texts().index("1970-04")
    assert (set(cells[april][1:]) == {"–"}) == gap
    ends = [(t - times[0]) / (times[-1] - times[0]) for t in times]
    between = [(a + b) / 2 for a, b in zip(ends[:-1], ends[1:], strict=True)]
    drawn = [page.evaluate(_COLOURED, at) > 0 for at in between]
    assert drawn == [not gap or n not in (april - 1, april) for n in range(len(between))]
    page.goto(f"{page.url.partition('#')[0]}#/")
    parts = page.locator("main table .spark").first.locator("polygon").count()
    assert parts == 1 + gap
    page.close()


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
        page.goto(f"http://{host}:{port}/#/word/word9")
        page.locator("#followed").wait_for()
        yield page, store
        context.close()
    assert said == []


def test_a_reader_with_the_token_names_merges_and_hides(following):
    """Names are foreign text; changes stay in the store, and the page shows them at once."""
    from beam_topics.pipelines.serve import TOKEN

    page, store = following
    address = page.url.partition("#")[0]
    page.goto(f"{address}#/topic/3")
    page.reload()
    page.locator("main h1").wait_for()
    assert page.locator("#topic-name").count() == 0
    page.goto(f"{address}#/token/{TOKEN}")
    page.reload()
    page.wait_for_url(lambda url: urlparse(url).fragment == "/")
    page.goto(f"{address}#/topic/3")
    page.fill("#topic-name", HOSTILE[0])
    page.keyboard.press("Enter")
    page.locator("main h1").get_by_text(HOSTILE[0], exact=True).wait_for()
    page.select_option("#topic-into", "1")
    page.get_by_role("button", name="Merge").click()
    page.wait_for_url(lambda url: urlparse(url).fragment == "/topic/1")
    page.locator(".lead", has_text="shown as one").wait_for()
    page.get_by_role("button", name="Hide in lists").click()
    page.get_by_role("button", name="Show in lists").wait_for()
    entries = CatalogueStore(store.root).latest("")[1].entries
    assert entries[3].name == HOSTILE[0] and entries[3].merged == 1 and entries[1].hidden
    page.get_by_role("button", name="Take 3 out").click()
    page.locator(".lead", has_text="shown as one").wait_for(state="detached")


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
