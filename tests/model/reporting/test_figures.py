"""The figures of a report equal those of the manifests, the model and the mixtures."""

import json
from dataclasses import replace

import numpy as np
import pytest
from reported import DAY, TOPICS, WORDS, mixture_rows, published, shares_of

from beam_topics.model.publishing.catalogue import Catalogue, curves
from beam_topics.model.publishing.succession import ranks_of
from beam_topics.model.reporting.course import bursts_of, calendar_unit, period_start
from beam_topics.model.reporting.figures import (
    Sources,
    bursts_of_periods,
    figures_of,
    groups_of,
    spread,
    tree,
)
from beam_topics.model.reporting.mixtures import Limits, read_mixtures, shortened
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.times import parse_time

LIMITS = Limits(words=8, ranked=4, typical=3, sample=6)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    store = published(tmp_path_factory.mktemp("store"))
    history, rows = store.manifests(""), mixture_rows(store)
    unit = calendar_unit(history)
    labelled = read_mixtures(
        lambda: (("here", row) for row in rows),
        {m.version for m in history},
        range(TOPICS),
        lambda micros: period_start(micros, unit),
        typical=3,
        sample=6,
    )
    models = {m.version: store.get_snapshot(m) for m in history}
    newest = models[history[-1].version]
    sources = Sources(
        history,
        Shown(Catalogue().with_entries([2], name="mine"), history[-1], newest),
        lambda m: models[m.version],
        labelled,
    )
    return sources, rows, models, figures_of(sources, LIMITS)


def test_what_came_equals_the_curves_of_show(made):
    sources, _, _, figures = made
    came = np.array(figures["versions"]["came"])
    shares = came / came.sum(axis=1, keepdims=True)
    # The versions are equally far apart, so each has a period of its own in the table of show.
    drawn = curves(sources.history, TOPICS, len(sources.history)).shares
    assert shares == pytest.approx(drawn, abs=1e-9)
    (whole,) = curves(sources.history, TOPICS, 1).shares
    assert came.sum(axis=0) / came.sum() == pytest.approx(whole, abs=1e-9)


def test_the_shares_of_a_period_are_those_of_its_versions(made):
    sources, _, _, figures = made
    periods = figures["periods"]
    assert sum(periods["versions"]) == len(sources.history)
    firsts = np.cumsum([0, *periods["versions"][:-1]])
    for first, count, shares in zip(firsts, periods["versions"], periods["shares"], strict=True):
        own = np.sum([m.topic_tokens for m in sources.history[first : first + count]], axis=0)
        assert (shares is None) == (count == 0)
        if not count:
            continue
        assert shares == pytest.approx(own / own.sum(), abs=1e-9)


def test_the_figures_of_versions_are_those_of_the_manifests(made):
    sources, _, _, figures = made
    for column, field in (("documents", "documents"), ("perplexity", "prequential_perplexity")):
        wanted = [getattr(m, field) for m in sources.history]
        assert figures["versions"][column] == wanted
    assert figures["versions"]["time"] == [m.event_time // 1000 for m in sources.history]
    assert figures["model"]["version"] == sources.history[-1].version


def test_shares_and_words_are_those_of_the_model(made):
    sources, _, _, figures = made
    snapshot = sources.shown.snapshot
    assert figures["topics"]["share"] == pytest.approx(
        snapshot.totals / snapshot.totals.sum(), abs=1e-9
    )
    rows = np.arange(len(WORDS))
    probabilities = (snapshot.rows(rows) + snapshot.prior.shares(rows)) / snapshot.normalisers
    row_of = {shortened(word, LIMITS.name): row for row, word in enumerate(WORDS)}
    for topic, terms in enumerate(figures["terms"]):
        own = [row_of[figures["words"]["text"][number]] for number in terms["word"]]
        assert len(own) >= LIMITS.words
        assert terms["count"] == snapshot.rows(own)[:, topic].tolist()
        assert np.exp(terms["probability"]) == pytest.approx(probabilities[own, topic], rel=1e-9)


def test_the_topics_of_a_word_share_its_tokens(made):
    words, snapshot = made[3]["words"], made[0].shown.snapshot
    assert sum(words["count"]) <= snapshot.counts.sum()
    for topics in words["topics"]:
        assert sum(share for _, share in topics) == pytest.approx(1, abs=1e-9)


def test_labelled_shares_are_means_over_the_mixtures(made):
    _, rows, _, figures = made
    labelled = figures["labelled"]
    assert sum(labelled["documents"]) == len(rows) == figures["documents"]["all"]
    total = np.sum(
        [np.multiply(s, n) for s, n in zip(labelled["shares"], labelled["documents"], strict=True)],
        axis=0,
    )
    assert total == pytest.approx(np.sum([shares_of(row) for row in rows], axis=0), abs=1e-9)


def test_the_mixture_of_a_document_is_that_of_its_row(made):
    _, rows, _, figures = made
    documents = figures["documents"]
    by_time = {row["timestamp"]: row for row in rows}
    assert documents["typical"] and len(documents["id"]) >= 6
    for time, mixture in zip(documents["time"], documents["mixture"], strict=True):
        stamp = f"{np.datetime64(time, 'ms')}000Z"
        row = next(r for t, r in by_time.items() if t[:23] == stamp[:23])
        assert dict(mixture) == {z: p for z, p in enumerate(shares_of(row)) if p >= 0.01}


def test_ranks_are_those_of_the_table_of_changes(made):
    sources, _, models, figures = made
    ranks = figures["ranks"]
    assert ranks["versions"] == list(range(6))
    for topic, words in enumerate(sources.shown.snapshot.top_words(LIMITS.ranked)):
        for place, word in enumerate(words):
            wanted = [
                ranks_of(models[m.version], [word], range(TOPICS))[word].get(str(topic))
                for m in sources.history
            ]
            assert ranks["topics"][topic][place] == wanted
            assert wanted[-1] == place + 1


def test_a_model_that_was_removed_is_left_out(made):
    sources, _, models, _ = made
    gone = sources.history[2].version
    fewer = Sources(
        sources.history,
        sources.shown,
        lambda m: None if m.version == gone else models[m.version],
    )
    figures = figures_of(fewer, LIMITS)
    assert figures["ranks"]["versions"] == [0, 1, 3, 4, 5]
    assert all(len(r) == 5 for topic in figures["ranks"]["topics"] for r in topic)
    assert figures["labelled"] is None is figures["documents"]


def test_a_given_name_stands_beside_that_of_the_words(made):
    topics = made[3]["topics"]
    assert topics["given"] == ["", "", "mine", "", ""] and topics["name"][2].startswith("word")


def test_equal_sources_give_equal_figures_that_json_can_hold(made):
    sources, _, _, figures = made
    text = json.dumps(figures, allow_nan=False)
    assert text == json.dumps(figures_of(sources, LIMITS))
    assert len(max(figures["words"]["text"], key=len)) < 250


def test_more_versions_than_points_are_added_up(made):
    sources, _, _, figures = made
    few = figures_of(sources, Limits(points=2))["versions"]
    assert np.sum(few["came"], axis=0) == pytest.approx(np.sum(figures["versions"]["came"], axis=0))
    assert few["name"] == [sources.history[2].version, sources.history[5].version]


def test_groups_and_spreads_hold_the_ends():
    assert [list(g) for g in groups_of(5, 2)] == [[0, 1], [2, 3, 4]]
    assert groups_of(3, 9) == [range(1), range(1, 2), range(2, 3)]
    assert spread(100, 3) == [0, 50, 99] and spread(1, 5) == [0] and spread(2, 1) == [0]


@pytest.mark.parametrize(("last", "unfinished"), [("06-29T12", True), ("06-30T12", False)])
def test_dates_are_those_of_documents_and_the_last_period_may_be_unfinished(made, last, unfinished):
    *others, newest = made[0].history
    times = [parse_time("1969-05-01"), parse_time(f"1970-{last}")]
    end = parse_time("1970-07-30")
    sources = replace(
        made[0],
        history=[*others, replace(newest, event_time=end, times=times)],
        model_of=lambda manifest: made[0].model_of(made[0].history[manifest.sequence - 1]),
    )
    figures = figures_of(sources, LIMITS)
    first, until = (time // 1000 for time in times)
    assert (figures["model"]["first"], figures["model"]["last"]) == (first, until)
    assert figures["versions"]["time"][-1] == figures["periods"]["time"][-1] == until
    assert figures["periods"]["name"][-1] == "1970-06"
    assert figures["periods"]["unfinished"] == unfinished
    # The window of the last event ends with that of its version.
    assert max(event["time"] for event in figures["events"]) <= until


@pytest.mark.parametrize(("last", "unfinished"), [("T18:00", True), ("T23:30", False)])
def test_a_day_is_unfinished_until_its_last_hour(made, last, unfinished):
    days = [parse_time(f"2026-03-0{day}") + 84_600_000_000 for day in range(1, 6)]
    days.append(parse_time(f"2026-03-06{last}"))
    history = [
        replace(manifest, times=[days[0], day])
        for manifest, day in zip(made[0].history, days, strict=True)
    ]
    found = figures_of(replace(made[0], history=history, model_of=lambda _: None), LIMITS)
    assert found["periods"]["name"][-1] == "2026-03-06"
    assert found["periods"]["unfinished"] == unfinished


def test_a_new_word_is_told_once_with_counts_and_dates(made):
    sources, _, _, figures = made
    (first, *_) = told = [one for words in figures["periods"]["new"] for one in words]
    time = sources.history[0].event_time // 1000
    assert first == [1, WORDS[0], 9.0, 0.0, time, time]
    # In later periods it is told again, since the first version has it.
    assert [one[-1] for one in told] == [time] * len(told)


def test_events_are_those_of_the_versions(made):
    events = [e for e in made[3]["events"] if e["kind"] != "words_changed"]
    assert [e["time"] for e in events] == [n * 30 * DAY // 1000 for n in (1, 3, 5)]
    assert all(e["kind"] == "change" and e["topics"] == [1] for e in events)


def test_a_planted_burst_is_told_with_its_period_topic_and_documents():
    documents = [40] * 10
    shares = [[0.25, 0.25, 0.5] for _ in documents]
    shares[8] = [0.05, 0.75, 0.2]
    starts, shares = [DAY * n for n in range(10)], np.array(shares)
    found = bursts_of_periods(starts, documents, shares)
    p = pytest.approx(2.14e-5, rel=0.01)
    assert found == [[8, 1, 30.0, pytest.approx(10, abs=1e-9), p]]
    assert bursts_of_periods([], [], shares[:0]) == []
    assert bursts_of_periods(starts[:1], [40], shares[:1]) == []


def test_the_page_has_the_bursts_that_trends_has(made):
    sources, _, _, figures = made
    cells = sorted(sources.labelled.periods.cells.items())
    starts = [start for (start, _), _ in cells]
    rows = [
        {
            "key": "",
            "group": "",
            "topic": topic,
            "window_start": start,
            "documents": cell.documents,
            "mean_share": share,
        }
        for (start, _), cell in cells
        for topic, share in enumerate(cell.mean_shares())
    ]
    expected = [
        [starts.index(one.start), one.topic, one.documents, one.expected] for one in bursts_of(rows)
    ]
    assert figures["labelled"]["bursts"] == expected


def test_a_tree_joins_the_nearest_by_mean_distances():
    apart = np.array([[0, 4, 1, 9], [4, 0, 6, 7], [1, 6, 0, 8], [9, 7, 8, 0]], float)
    assert tree(apart) == [(0, 2, 1.0), (1, 4, 5.0), (3, 5, 8.0)]
    assert tree(apart[:1, :1]) == []
