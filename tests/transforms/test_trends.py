"""The table of trends equals sums over the mixtures, whatever bundles, repeats and lateness do."""

import io
import json
from collections import defaultdict
from dataclasses import replace
from functools import cache

import apache_beam as beam
import numpy as np
import pytest
from blocks import count_in, mixture_block
from collecting import run

from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.reporting import course, trends
from beam_topics.model.reporting.course import LEAST, bursts_of
from beam_topics.model.reporting.trends import OTHERS, TREND_KEY, Trends, rows_of_file, whole_rows
from beam_topics.model.times import parse_time
from beam_topics.transforms import shared
from beam_topics.transforms.trends import AddUpTrends, rows_of

DAY = 86_400_000_000


def mixtures(count=40, topics=3):
    generator = np.random.default_rng(5)
    return [
        TopicMixture(
            id=str(n),
            timestamp=int(generator.integers(0, 4 * DAY)),
            key="k" if n % 5 == 0 else "",
            model_version="v",
            method="gibbs3",
            proportions=generator.dirichlet(np.ones(topics)),
            tokens=n + 2,
            words_known=n + 1,
        )
        for n in range(count)
    ]


def block_of(mixture, time, labels, groups):
    return mixture_block(
        [mixture],
        [time],
        labels and [labels[mixture.id]],
        document_groups=[groups[mixture.id]] if groups else (),
    ).to_bytes()


def table(found, *flags, streams=False, late=0, labels=None, groups_of=None, **settings):
    """The rows, where each mixture comes ``late`` microseconds after its own time."""

    def build(pipeline):
        items = [
            (m.timestamp + late, block_of(m, m.timestamp + late, labels, groups_of)) for m in found
        ]
        stamped = (
            pipeline
            | beam.Create(items)
            | beam.MapTuple(
                lambda time, item: beam.window.TimestampedValue(item, time / 1e6)
            ).with_output_types(bytes)
        )
        return {"rows": stamped | AddUpTrends(DAY, streams=streams, **settings)}

    held, _ = run(build, *flags)
    return sorted(
        (json.loads(data) for _, data in held["rows"]),
        key=lambda row: [(row[name] is None, row[name]) for name in TREND_KEY if name in row],
    )


def by_hand(found):
    """{(key, start): (documents, [mean share], [tokens])}."""
    windows = defaultdict(list)
    for m in found:
        windows[m.key, m.timestamp // DAY * DAY].append(m)
    return {
        place: (
            len(some),
            np.mean([m.proportions for m in some], axis=0),
            np.sum([m.proportions * m.words_known for m in some], axis=0),
        )
        for place, some in windows.items()
    }


def check(rows, found):
    wanted = by_hand(found)
    none = [row for row in rows if row["topic"] is None]
    assert len(rows) == 4 * len(wanted) and len(none) == len(wanted)
    assert {row["mean_share"] for row in none} == {0.0}
    for row in rows:
        if row["topic"] is None:
            continue
        documents, means, tokens = wanted[row["key"], parse_time(row["window_start"])]
        assert row["documents"] == documents
        assert row["mean_share"] == pytest.approx(means[row["topic"]], abs=1e-9)
        assert row["tokens"] == pytest.approx(tokens[row["topic"]], abs=1e-9)
        assert parse_time(row["window_end"]) == parse_time(row["window_start"]) + DAY
        assert row["part"] == row["window_end"]


@pytest.mark.parametrize("streams", [True, False])
def test_words_are_counted_by_the_documents_that_hold_them(streams):
    found = mixtures()
    held = {m.id: {"sea": 3} if int(m.id) % 3 else {"sea": 1, "ship": 2} for m in found}

    def build(pipeline):
        blocks = [
            (m.timestamp, replace(mixture_block([m], [m.timestamp]), words=(held[m.id],)))
            for m in found
        ]
        items = pipeline | beam.Create([(time, one.to_bytes()) for time, one in blocks])
        stamped = items | beam.MapTuple(
            lambda time, item: beam.window.TimestampedValue(item, time / 1e6)
        ).with_output_types(bytes)
        words = ["sea", "ship", "unheard"]
        return {"rows": stamped | AddUpTrends(DAY, streams=streams, words=words)}

    rows = [json.loads(data) for _, data in run(build)[0]["rows"]]
    assert len(rows) == 3 * len(by_hand(found)) and {row["topic"] for row in rows} == {None}
    for row in rows:
        start = parse_time(row["window_start"])
        own = [m for m in found if m.key == row["key"] and m.timestamp // DAY * DAY == start]
        holding = [m.id for m in own if row["word"] in held[m.id]]
        assert row["documents"] == len(own)
        assert row["mean_share"] * len(own) == pytest.approx(len(holding))
        assert {one["id"] for one in row["typical"] if one["share"]} <= set(holding)


@pytest.mark.parametrize("streams", [True, False])
def test_rows_are_sums_over_the_mixtures(streams):
    found = mixtures()
    check(table(found, streams=streams), found)


@pytest.mark.parametrize("streams", [True, False])
def test_groups_add_up_to_the_whole(streams):
    found = mixtures()
    labels = {m.id: ("a", "b", None)[n % 3] for n, m in enumerate(found)}
    rows = table(found, streams=streams, labels=labels, by="label")
    assert {row["group"] for row in rows} == {"a", "b", ""}
    for group in ("a", "b", ""):
        own = [m for m in found if (labels[m.id] or "") == group]
        check([row for row in rows if row["group"] == group], own)


@pytest.mark.parametrize("streams", [True, False])
def test_groups_that_documents_name_are_apart_from_labels(streams):
    found = mixtures()
    labels = {m.id: "label" for m in found}
    regions = {m.id: ("north", "south", None)[n % 3] for n, m in enumerate(found)}
    rows = table(found, streams=streams, labels=labels, groups_of=regions, by="group")
    assert {row["group"] for row in rows} == {"north", "south", ""}
    for group in ("north", "south", ""):
        own = [m for m in found if (regions[m.id] or "") == group]
        check([row for row in rows if row["group"] == group], own)
    plain = table(found, streams=streams, labels=labels, groups_of=regions)
    assert plain == table(found, streams=streams)


def test_groups_are_bounded_and_the_others_are_one(monkeypatch):
    monkeypatch.setattr(trends, "MOST_GROUPS", 2)
    found = mixtures()
    regions = {m.id: f"region {n % 9}" for n, m in enumerate(found)}
    rows = table(found, groups_of=regions, by="group")
    kept = defaultdict(set)
    for row in rows:
        kept[row["key"], parse_time(row["window_start"])].add(row["group"])
    assert any(OTHERS in groups for groups in kept.values())
    for place, groups in kept.items():
        assert len(groups - {OTHERS}) <= 2

        def group_of(m, groups=groups):
            return regions[m.id] if regions[m.id] in groups else OTHERS

        there = [m for m in found if (m.key, m.timestamp // DAY * DAY) == place]
        for group in groups:
            own = [m for m in there if group_of(m) == group]
            some = [row for row in rows if row["group"] == group]
            mine = [r for r in some if (r["key"], parse_time(r["window_start"])) == place]
            check(mine, own)
    assert rows == table(found[::-1], groups_of=regions, by="group")


def test_typical_documents_are_the_best_of_the_window():
    found = mixtures()
    for row in table(found):
        if row["topic"] is None:
            assert row["typical"] == []
            continue
        start = parse_time(row["window_start"])
        own = [m for m in found if m.key == row["key"] and m.timestamp // DAY * DAY == start]
        best = sorted(own, key=lambda m: -m.proportions[row["topic"]])[: trends.TYPICAL]
        assert [one["id"] for one in row["typical"]] == [m.id for m in best]
        assert [parse_time(one["timestamp"]) for one in row["typical"]] == [
            m.timestamp for m in best
        ]
        for one, m in zip(row["typical"], best, strict=True):
            assert one["share"] == pytest.approx(m.proportions[row["topic"]], abs=1e-12)


def test_the_order_of_mixtures_changes_no_bit():
    found = mixtures()
    assert table(found) == table(found[::-1])


def test_repeated_bundles_and_full_bags_change_nothing(monkeypatch):
    found = mixtures()
    whole = table(found)
    monkeypatch.setattr(shared, "MAX_SUMMANDS", 2)
    repeated = table(found, "--direct_runner_bundle_repeat=2")
    # The step that keeps what comes out sees each repetition.
    assert [row for place, row in enumerate(repeated) if row not in repeated[:place]] == whole


def test_the_time_of_an_element_says_nothing():
    found = mixtures()
    assert table(found, late=DAY // 2) == table(found)


def test_what_comes_after_its_window_is_a_part_of_another_name():
    late = Trends(2)
    count_in(late, DAY, "", [0.25, 0.75], tokens=5, words_known=4)
    rows = [json.loads(row) for row in rows_of(late, "k", 4 * DAY, DAY)]
    assert [row["tokens"] for row in rows] == [1, 3, 0] and {row["key"] for row in rows} == {"k"}
    for row in rows:
        times = [parse_time(row[name]) // DAY for name in ("window_start", "window_end", "part")]
        assert times == [1, 2, 4]


def test_models_of_one_key_with_other_numbers_of_topics_have_tables_of_their_own():
    rows = table([*mixtures(4, 3), *mixtures(4, 2)])
    assert {row["topic"] for row in rows} == {0, 1, 2, None}


WINDOWS, TOPICS, EVERY = 50, 15, 8


@cache
def written_with_bursts(seed, scatter, planted):
    """The rows of documents whose topics come at rates that vary; planted ones come three times."""
    generator, found = np.random.default_rng(seed), Trends(TOPICS)
    shares = generator.dirichlet(np.full(TOPICS, 4.0))
    for window in range(WINDOWS):
        rates = shares * generator.gamma(scatter**-2, scatter**2, TOPICS)
        for at, topic in planted:
            rates[topic] *= 3 if at == window else 1
        size = int(generator.negative_binomial(8, 8 / 308)) + 50
        for topic in generator.choice(TOPICS, size, p=rates / rates.sum()):
            prior = np.full(TOPICS, 0.05)
            prior[topic] += 6
            mixture = generator.dirichlet(prior)
            count_in(found, window * DAY, "", mixture, tokens=50, words_known=50)
    lines = b"\n".join(rows_of(found, "", WINDOWS * DAY, DAY))
    return whole_rows(rows_of_file(io.BytesIO(lines), "trends-1.jsonl"))


def recall_and_alarms(scatter):
    """The share of planted bursts that are found, and of quiet windows that are called bursts."""
    hits = wanted = alarms = quiet = 0
    for seed in range(5):
        generator = np.random.default_rng(50 + seed)
        at = range(20, WINDOWS, EVERY)
        planted = frozenset((window, int(generator.integers(TOPICS))) for window in at)
        rows = written_with_bursts(seed, scatter, planted)
        assert len(rows) == WINDOWS * (TOPICS + 1)
        rows = [row for row in rows if row["topic"] is not None]
        told = {(one.start // DAY, one.topic) for one in bursts_of(rows)}
        usual = np.zeros((TOPICS, WINDOWS))
        for row in rows:
            usual[row["topic"], row["window_start"] // DAY] = row["documents"] * row["mean_share"]
        enough = {one for one in planted if np.median(usual[one[1]]) >= 10}
        hits, wanted = hits + len(told & enough), wanted + len(enough)
        alarms += len(told - planted)
        quiet += (WINDOWS - LEAST) * TOPICS - len(planted)
    assert wanted >= 15
    return hits / wanted, alarms / quiet


@pytest.mark.parametrize("scatter", [0.05, 0.15])
def test_bursts_of_the_written_table(scatter):
    """Nine of ten planted ones are found, with one false alarm in a hundred quiet windows."""
    recall, alarms = recall_and_alarms(scatter)
    assert recall >= 0.9 and alarms <= 0.01


def test_the_measurement_of_bursts_finds_a_rule_with_wrong_probabilities(monkeypatch):
    """Planted: half of each probability, and a hundred times each."""
    found = course._tail

    def wrong(factor):
        def tail(*given):
            expected, probability = found(*given)
            return expected, probability * factor

        return tail

    monkeypatch.setattr(course, "_tail", wrong(0.5))
    assert recall_and_alarms(0.15)[1] > 0.01
    monkeypatch.setattr(course, "_tail", wrong(100))
    assert recall_and_alarms(0.15)[0] < 0.9
