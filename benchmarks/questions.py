"""Ten questions of an analyst, answered from the page: ``python -m benchmarks.questions``.

The documents are abstracts of arXiv on eight subjects, with planted times and regions: one subject
grows over the year, one has its month, one begins in the last month, and in the last days a story
with rare words. Some records cannot be used. The true answers are counted from the documents alone.
Those of the page are read from what a headless Chromium shows at 1440 pixels. A topic stands for
the subject that most of its documents have. A page is made of documents labelled as they came
(``mixtures``), and of documents labelled anew by the newest version (``tagged``).
"""

from __future__ import annotations

import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from benchmarks.corpora import records

START, DAYS, EACH = datetime(2025, 1, 1, tzinfo=UTC), 365, 28
GROWS, PEAKS, FALLS, BEGINS = "cs.CR", "cs.RO", "cs.GT", "cs.SD"
SUBJECTS = ("cs.NI", "cs.SI", "cs.DB", "cs.PL", FALLS, GROWS, PEAKS, BEGINS)
PEAK_MONTH, BIRTH, STORY_DAYS = 6, 304, 3
REGIONS = ("north", "south", "east", "west")
STORY = [
    "velmora",
    "quorvane",
    "tessbloom",
    "haldrick",
    "mirnock",
    "ostrava",
    "drellum",
    "fenwyke",
    "galdora",
    "jorvale",
    "kestrin",
    "lombrek",
]
MONTHS = [f"2025-{month:02}" for month in range(1, 13)]
LATE, RECENT = MONTHS[-2:], "2025-10-20"
NO_TIME, NO_TEXT = 25, 10
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking")
_WORD = re.compile(r"[a-z][a-z-]+")


def weight(subject: str, day: int) -> float:
    """Return how often a subject comes on a day."""
    if subject == GROWS:
        return 1 + 4 * day / DAYS
    if subject == PEAKS:
        return 5.0 if (START + timedelta(days=day)).month == PEAK_MONTH else 1.0
    if subject == FALLS:
        return 3 - 2.5 * day / DAYS
    if subject == BEGINS:
        return 3.0 * (day >= BIRTH)
    return 1.5


def made(draw: random.Random) -> Iterator[dict[str, Any]]:
    """Yield the records of the year, those that are refused last."""
    texts: dict[str, list[str]] = {subject: [] for subject in SUBJECTS}
    for one in records("arxiv-cs-1994-2019"):
        if one["label"] in texts and one["timestamp"] >= "2008":
            texts[one["label"]].append(one["text"])
    for some in texts.values():
        draw.shuffle(some)

    def record(day: int, place: int, subject: str, text: str) -> dict[str, Any]:
        time = START + timedelta(days=day, minutes=30 * place)
        of = [3.0 if (subject, name) == (PEAKS, "west") else 1.0 for name in REGIONS]
        return {
            "id": f"d{day:03}-{place:02}",
            "timestamp": f"{time:%FT%TZ}",
            "region": draw.choices(REGIONS, of)[0],
            "label": subject,
            "text": text,
        }

    for day in range(DAYS):
        weights = [weight(subject, day) for subject in SUBJECTS]
        chosen = draw.choices(SUBJECTS, weights, k=EACH)
        for place, subject in enumerate(chosen):
            yield record(day, place, subject, texts[subject].pop())
        # A story has a title of its own, and rare words.
        for place in range(EACH, EACH + 6 * (day >= DAYS - STORY_DAYS)):
            story = " ".join(draw.sample(STORY, 9) + texts[GROWS][place].split()[:12])
            told = f"Velmora report\n\n{story}"
            yield record(day, place, "story", told)
        if day % 31 == 0:
            yield record(day, 45, "none", "of the and 12 to 345")
    for n in range(NO_TIME):
        yield record(0, n, "none", "a late record") | {"id": f"t{n}", "timestamp": "unknown"}
    for n in range(NO_TEXT):
        yield record(0, n, "none", "") | {"id": f"e{n}", "text": None}


class Truth:
    """What the documents say, by their subjects."""

    def __init__(self, documents: Sequence[dict[str, Any]]) -> None:
        usable = [one for one in documents if one["text"] and one["timestamp"] != "unknown"]
        self.refused = len(documents) - len(usable)
        self.wordless = sum(one["label"] == "none" for one in usable)
        self.label = {one["id"]: one["label"] for one in usable}
        self.documents = usable

    def share(self, subject: str, **fields: str) -> float:
        """Return the share of a subject among documents whose fields begin so."""
        some = [
            one
            for one in self.documents
            if all(one[name].startswith(value) for name, value in fields.items())
        ]
        return sum(one["label"] == subject for one in some) / max(1, len(some))

    def peak(self, subject: str) -> str:
        """Return the month in which a subject has its largest share."""
        return max(MONTHS, key=lambda month: self.share(subject, timestamp=month))

    def since(self, subject: str) -> str:
        """Return the month of the first document of a subject."""
        return min(one["timestamp"] for one in self.documents if one["label"] == subject)[:7]

    def grew(self) -> str:
        """Return the subject, of those that were there before, that grew most since 20 October."""
        late, early = Counter[str](), Counter[str]()
        for one in self.documents:
            (late if one["timestamp"] >= RECENT else early)[one["label"]] += 1
        return max((s for s in SUBJECTS if early[s]), key=lambda s: late[s] / early[s])

    def new_words(self, months: Sequence[str]) -> list[str]:
        """Return the words with the most evidence, by documents, that they came in the months."""
        late, early, count = Counter[str](), Counter[str](), [0, 0]
        for one in self.documents:
            is_late = one["timestamp"][:7] in months
            count[is_late] += 1
            (late if is_late else early).update(set(_WORD.findall(one["text"].lower())))
        ratio = count[1] / count[0]

        def evidence(word: str) -> float:
            expected = (early[word] + 0.5) * ratio
            return late[word] * math.log(late[word] / expected) - late[word] + expected

        least = (w for w, n in late.items() if n >= 5 and n >= 3 * ratio * early[w])
        return sorted(least, key=evidence, reverse=True)


class Page:
    """The page as a reader sees it: sections by their headings."""

    def __init__(self, tab: Any, path: Path, truth: Truth) -> None:
        self.tab, self.path, self.truth = tab, path, truth

    @cached_property
    def data(self) -> dict[str, Any]:
        """The figures that the page holds."""
        found: dict[str, Any] = json.loads(self.tab.inner_text("#figures"))
        return found

    def at(self, route: str, heading: str) -> Any:
        """Open a view and return the section with a heading."""
        self.tab.goto(f"{self.path.as_uri()}#/{route}")
        self.tab.wait_for_function("() => document.querySelector('main h1')")
        return self.tab.locator("main section", has=self.tab.locator(f"h2:text-is('{heading}')"))

    def rows(self, section: Any, caption: str) -> list[list[str]]:
        """Return the cells of a table that are seen; none without the table."""
        table = section.locator("table", has_text=caption)
        return [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]

    @cached_property
    def topics(self) -> dict[str, int]:
        """The topic that most documents of each subject in the sample have, by its name."""
        found: dict[str, Counter[int]] = {subject: Counter() for subject in SUBJECTS}
        documents = self.data["documents"]
        for id, mixture in zip(documents["id"], documents["mixture"], strict=True):
            if mixture and (label := self.truth.label[id]) in found:
                found[label][mixture[0][0]] += 1
        return {subject: counts.most_common(1)[0][0] for subject, counts in found.items()}

    def name(self, subject: str) -> str:
        """Return the name of the topic of a subject."""
        found: str = self.data["topics"]["name"][self.topics[subject]]
        return found

    def subject(self, name: str) -> str:
        """Return the subject that most documents of the sample with a topic have."""
        place = self.data["topics"]["name"].index(name)
        documents, counts = self.data["documents"], Counter[str]()
        for id, mixture in zip(documents["id"], documents["mixture"], strict=True):
            counts[self.truth.label[id]] += bool(mixture) and mixture[0][0] == place
        return counts.most_common(1)[0][0]

    def months(self, subject: str) -> dict[str, float]:
        """Return the shares of a subject's topic by month, as its view tells them."""
        route = f"topic/{self.data['topics']['id'][self.topics[subject]]}"
        rows = self.rows(self.at(route, "Course"), "Mean share of the documents that were")
        # The share by the newest version, of a sample, stands behind that of all and its bar.
        return {row[0]: number(row[4 if len(row) > 4 else 2]) for row in rows}


Answer = tuple[Any, Any, bool]


def number(text: str) -> float:
    """Return the first number of a text."""
    found = re.search(r"[\d.,]+(e-\d+)?", text)
    return float(found[0].replace(",", "")) if found else math.nan


def new_topic(page: Page) -> Answer:
    """Read the topics that are new under What moved."""
    moved = page.at("", "What moved").locator("h3:has(.kind.new) + ul a").all_inner_texts()
    found = [page.subject(name) for name in moved]
    return BEGINS, found, found == [BEGINS]


def new_words(page: Page) -> Answer:
    """Read the words of the last two months that are not folded away."""
    found: list[str] = []
    true = page.truth.new_words(LATE)
    for month in LATE:
        lists = page.at(f"time/{month}", "New words").locator("ul.plain").all()
        found += lists[0].locator(".entered").all_inner_texts() if lists else []
    first = true[:5]
    also = f"; {sum(word in true for word in found)} of {len(found)} told are new"
    return ", ".join(first), ", ".join(w for w in first if w in found) + also, {*first} <= {*found}


def since(page: Page) -> Answer:
    """Read the first month with a quarter of the largest share."""
    true, shares = page.truth.since(BEGINS), page.months(BEGINS)
    found = min(month for month, share in shares.items() if share >= max(shares.values()) / 4)
    return true, found, true == found


def grew(page: Page) -> Answer:
    """Read the largest change of a topic that is not new."""
    rows = page.rows(page.at("", "Topics"), "All topics")
    ratios = {row[1]: number(row[5]) for row in rows if "×" in row[5] and row[6].strip() != "new"}
    found, true = page.subject(max(ratios, key=lambda name: ratios[name])), page.truth.grew()
    return true, found, true == found


def documents(page: Page) -> Answer:
    """Read the typical documents of the new topic."""
    route = f"topic/{page.data['topics']['id'][page.topics[BEGINS]]}"
    links = page.at(route, "Typical documents").locator("ol.documents > li > p > a").all()
    # A link has the id and the time of the document.
    ids = [unquote(one.get_attribute("href").split("/")[-2]) for one in links]
    labels = [page.truth.label[id] for id in ids]
    count = labels.count(BEGINS)
    return f"10 of {BEGINS}", f"{count} of {len(labels)}", count >= 9


def by_group(page: Page) -> Answer:
    """Read the shares of a topic by group."""
    true = {name: page.truth.share(PEAKS, region=name) for name in REGIONS}
    told = {name: f"{share:.0%}" for name, share in true.items()}
    section = page.at(f"time/{MONTHS[0]}..{MONTHS[-1]}", "Groups")
    heads = section.locator("thead th").all_inner_texts()
    for row in page.rows(section, "group"):
        if row[0] == page.name(PEAKS):
            found = {name: number(row[heads.index(name)]) / 100 for name in REGIONS}
            right = all(abs(found[name] - true[name]) < 0.05 for name in REGIONS)
            return told, {name: f"{share:.0%}" for name, share in found.items()}, right
    return told, "–", False


def peak(page: Page) -> Answer:
    """Read the month with the largest share."""
    shares, true = page.months(PEAKS), page.truth.peak(PEAKS)
    found = max(shares, key=lambda month: shares[month])
    return true, found, true == found


def story(page: Page) -> Answer:
    """Read the story under Now."""
    items = page.at("", "Now").locator("h3:text-is('Stories') ~ ul li").all()
    text = items[-1].inner_text() if items else ""
    words, ids = set(re.findall(r"[a-z]+", text)) & {*STORY}, re.findall(r"Velmora report", text)
    told = f"{len(words)} words, {text.split(':')[-1].split(',')[0].strip()}, {len(ids)} to read"
    count = 6 * STORY_DAYS
    right = len(words) >= 5 and f": {count} documents" in text and len(ids) >= 3
    return f"{count} documents of {', '.join(STORY[:3])}", told, right


def refused(page: Page) -> Answer:
    """Read the records and the documents that Health counts."""
    letters = sum(number(row[1]) for row in page.rows(page.at("health", "Dead letters"), "Records"))
    without = re.search(
        r"(\d+) documents? without a known word", page.at("health", "Coverage").inner_text()
    )
    found = int(letters), int(without[1]) if without else 0
    true = page.truth.refused, page.truth.wordless
    return true, found, true == found


def sure(page: Page) -> Answer:
    """Read the probability of the bursts of the new topic."""
    route = f"topic/{page.data['topics']['id'][page.topics[BEGINS]]}"
    text = page.at(route, "Bursts").inner_text()
    found = re.search(r"p = ([\d.e-]+)|p < ([\d.e-]+)", text)
    told = found[0] if found else "no probability"
    return "p < .001", told, found is not None and float(found[1] or found[2]) < 0.001


QUESTIONS: dict[str, Callable[[Page], Answer]] = {
    "Which topic is new?": new_topic,
    "Which words are new since November?": new_words,
    "Since when is the new topic there?": since,
    "Which topic grew most?": grew,
    "Which documents show the new topic?": documents,
    "What is the share of robots in each region?": by_group,
    "When was the peak of robots?": peak,
    "Which story is there, and what do I read?": story,
    "How many records were refused, how many have no topic?": refused,
    "How sure is it that the new topic is no chance?": sure,
}


def made_pages(folder: Path) -> list[tuple[str, Path]]:
    """Learn, label as the documents come and anew, and write a page of each."""
    source, model = folder / "year.jsonl", folder / "year.topics"

    def run(*words: str) -> None:
        command = [sys.executable, "-m", "beam_topics", *words]
        subprocess.run(command, check=True, cwd=folder, capture_output=True)

    if not model.exists():
        source.write_text("".join(json.dumps(one) + "\n" for one in made(random.Random(1))))
        by = ("--group_field=region",)
        run(
            "stream",
            source.name,
            "--topics=12",
            f"--trends={model}/days",
            f"--events={model}/events",
            *by,
        )
        run("infer", model.name, f"--output={model}/tagged", f"--trends={model}/again", *by)
    pages = []
    for labelled, rows in (("mixtures", "days"), ("tagged", "again")):
        path = folder / f"{labelled}.html"
        rows = f"--rows={model}/days/stories*,{model}/{rows}/trends*"
        run(
            "report",
            model.name,
            f"--mixtures={model / labelled}",
            rows,
            f"--documents={source}",
            f"--output={path}",
        )
        pages.append((labelled, path))
    return pages


def main() -> None:
    """Answer the questions, and print a table of what is true and what the pages say."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("BEAM_TOPICS_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        folder = Path(sys.argv[1] if sys.argv[1:] else name).absolute()
        pages = made_pages(folder)
        lines = (folder / "year.jsonl").read_text(encoding="utf-8").splitlines()
        truth = Truth([json.loads(line) for line in lines])
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for labelled, path in pages:
            tab = browser.new_page(viewport={"width": 1440, "height": 900}, bypass_csp=True)
            tab.goto(path.as_uri())
            page = Page(tab, path, truth)
            for question, answer in QUESTIONS.items():
                true, found, right = answer(page)
                cells = labelled, question, true, found, "right" if right else "WRONG"
                print("|", " | ".join(map(str, cells)), "|")
        browser.close()


if __name__ == "__main__":
    main()
