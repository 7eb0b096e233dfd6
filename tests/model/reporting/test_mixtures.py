import io
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from reported import DAY, mixture_rows, published, shares_of

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.inference.mixtures import Groups, TopicMixture
from beam_topics.model.reporting.encoding import (
    blocks,
    mixtures_to_avro,
    mixtures_to_json_lines,
    raw_rows,
    rows_of_file,
)
from beam_topics.model.reporting.mixtures import Limits, read_mixtures, shown
from beam_topics.model.times import parse_time, to_iso

PERIOD = 30 * DAY
TOPICS = range(5)


def mixtures_of(rows, topics=TOPICS):
    """The mixtures of rows with their places, by topics that are groups of their own."""
    groups = Groups(tuple(topics), tuple(range(len(topics))))
    found = blocks(rows, topics, groups)
    return [block.mixture(n) for block in found for n in range(len(block.rows))]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return mixture_rows(published(tmp_path_factory.mktemp("store")))


def read(rows, versions=None, typical=3, sample=5):
    known = {row["model_version"] for row in rows} if versions is None else versions
    return read_mixtures(
        lambda: ((f"row {n}", row) for n, row in enumerate(rows)),
        known,
        TOPICS,
        lambda micros: micros // PERIOD * PERIOD,
        typical=typical,
        sample=sample,
    )


def cells_of(periods):
    """The cells of periods by their starts."""
    return {start: cell for (start, _), cell in periods.cells.items()}


def test_periods_are_sums_over_the_mixtures(rows):
    found = read(rows)
    cells = cells_of(found.periods)
    for start, cell in cells.items():
        mine = [row for row in rows if parse_time(row["timestamp"]) // PERIOD * PERIOD == start]
        assert cell.documents == len(mine)
        assert cell.tokens == sum(row["tokens"] for row in mine)
        assert cell.words_known == sum(row["words_known"] for row in mine)
        means = np.mean([shares_of(row) for row in mine], axis=0)
        assert cell.mean_shares() == pytest.approx(means, abs=1e-9)
    assert found.documents == len(rows) == sum(cell.documents for cell in cells.values())
    assert found.versions == Counter(row["model_version"] for row in rows)


def died(row, topic, really):
    """The row, with another id in place of one that has died."""
    topics = [{**one, "topic": 99} if one["topic"] == topic else one for one in row["topics"]]
    return {**row, "topics": topics} if really else row


def test_shares_are_by_place_and_those_of_groups_are_added(rows):
    row = {**rows[0], "topics": [{"topic": 7, "share": 0.5}, {"topic": 2, "share": 0.25}]}
    groups = Groups((9, 7), (0, 1, 0))
    (block,) = blocks([("here", row)] * 2, [9, 7, 2], groups)
    assert block.shares.tolist() == [[0.25, 0.5]] * 2


def test_documents_without_a_known_word_have_no_topic_and_are_not_typical(rows):
    none = {**rows[0], "topics": [], "topic": None, "words_known": 0, "none": 1.0}
    found = read([{**none, "id": str(n)} for n in range(3)])
    assert (found.documents, found.judged) == (3, 0)
    assert found.typical == [[]] * 5
    (cell,) = cells_of(found.periods).values()
    assert cell.none == 3 and cell.mean_shares() == [0.0] * 5


def test_shares_of_topics_that_died_are_not_counted(rows):
    first = min(row["model_version"] for row in rows)
    found, whole = read([died(row, 1, row["model_version"] == first) for row in rows]), read(rows)
    before = cells_of(whole.periods)
    for start, cell in cells_of(found.periods).items():
        lost = sum(
            shares_of(row)[1]
            for row in rows
            if row["model_version"] == first
            and parse_time(row["timestamp"]) // PERIOD * PERIOD == start
        )
        means, had, documents = cell.mean_shares(), before[start].mean_shares(), cell.documents
        assert means[1] * documents == pytest.approx(had[1] * documents - lost)
        assert [means[z] for z in (0, 2, 3, 4)] == [had[z] for z in (0, 2, 3, 4)]
    assert cells_of(found.periods) != before


def test_the_order_of_rows_and_repeated_rows_change_nothing(rows):
    whole, again = read(rows), read([*rows[::-1], *rows[10:20]])
    assert cells_of(again.periods) == cells_of(whole.periods)
    assert again.repeated == 10 and whole.repeated == 0
    for name in ("typical", "sample"):
        assert str(getattr(again, name)) == str(getattr(whole, name))


def test_of_two_versions_the_newer_one_counts(rows):
    versions = sorted({row["model_version"] for row in rows})
    old, new = ({**rows[0], "model_version": v} for v in (versions[0], versions[-1]))
    for some in ([old, new], [new, old, new]):
        found = read(some)
        assert found.documents == 1 and found.sample[0].version == versions[-1]
        assert found.repeated == len(some) - 1


def test_rows_of_other_models_are_counted_and_passed_over(rows):
    other = {**rows[0], "model_version": "000000000001-0000000000000000", "topics": "none"}
    found = read([*rows, other], {row["model_version"] for row in rows})
    assert found.foreign == 1 and found.documents == len(rows)


def test_documents_that_no_topic_explains_are_counted(rows):
    shares = (0.1, 0.5, 0.51, 1.0)
    judged = [{**row, "none": none} for row, none in zip(rows[:4], shares, strict=True)]
    found = read([*judged, *rows[4:]], sample=len(rows))
    assert (found.judged, found.unexplained) == (4, 2)
    assert sorted(m.none for m in found.sample if m.none is not None) == list(shares)
    with pytest.raises(DamagedDataError, match=r"`float` <= 1.0 - at `\$.none`"):
        read([{**rows[0], "none": 1.5}])


def test_typical_documents_have_the_largest_share_and_enough_words(rows):
    found = read(rows, typical=4)
    for topic, chosen in enumerate(found.typical):
        long = [row for row in rows if row["words_known"] >= 20]
        best = sorted((shares_of(row)[topic] for row in long), reverse=True)[:4]
        assert [m.proportions[topic] for m in chosen] == best
        assert all(m.words_known >= 20 for m in chosen)


def test_short_documents_are_typical_where_there_are_no_others(rows):
    short = [{**row, "words_known": 3} for row in rows[:2]]
    (first, second) = read([*short, {**rows[2], "words_known": 30}]).typical[0][:2]
    assert first.words_known == 30 and second.words_known == 3


def test_the_sample_is_bounded_and_the_same_of_a_part(rows):
    whole = read(rows, sample=7).sample
    assert len(whole) == 7
    kept = {m.id for m in whole}
    part = [row for n, row in enumerate(rows) if row["id"] in kept or n % 2]
    assert [m.id for m in read(part, sample=7).sample] == [m.id for m in whole]
    assert read(rows, sample=0).sample == []


def test_files_of_both_formats_are_read_alike():
    mixtures = [
        TopicMixture(
            id=str(n), timestamp=n * 10**9, key="k", model_version="v", method="gibbs3",
            proportions=np.array([0.25, 0.75]), tokens=4, words_known=3,
        )
        for n in range(3)
    ]  # fmt: skip
    data = [m.to_bytes() for m in mixtures]
    files = {"a.jsonl": mixtures_to_json_lines(data), "a.avro": mixtures_to_avro(data)}
    found = [
        list(map(str, mixtures_of(raw_rows(io.BytesIO(content), name), range(2))))
        for name, content in files.items()
    ]
    assert len(found[0]) == 3 and found[0] == found[1]
    for name, data in files.items():
        assert [row["id"] for row in rows_of_file(io.BytesIO(data), name)] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topics": [{"topic": 1, "share": 2.0}]}, "`float` <= 1.0 - at `$.topics["),
        ({"topics": [{"topic": "1", "share": 0.5}]}, "`int`, got `str` - at `$.topics["),
        ({"topics": [{"topic": 1, "share": 0.5}] * 2}, "topics of here: found a topic twice"),
        ({"topics": [{"topic": z, "share": 0.9} for z in (0, 9)]}, "found 1.800 together"),
        ({"topics": "much"}, "here is not a mixture: ValidationError Expected `array`, got `str`"),
        ({"timestamp": "soon"}, "here is not a mixture: ValueError it is not ISO 8601"),
        ({"tokens": -1}, "Expected `int` >= 0 - at `$.tokens`"),
        ({"id": 5}, "Expected `str`, got `int` - at `$.id`"),
    ],
)
@pytest.mark.parametrize("written", [lambda row: row, lambda row: json.dumps(row).encode()])
def test_what_is_not_a_mixture_is_refused(rows, changes, message, written):
    with pytest.raises(DamagedDataError) as error:
        mixtures_of([("there", rows[1]), ("here", written({**rows[0], **changes}))])
    assert message in str(error.value) and "here" in str(error.value)


def test_a_missing_field_says_what_the_option_takes(rows):
    row = {name: value for name, value in rows[0].items() if name != "topics"}
    with pytest.raises(DamagedDataError, match="--mixtures takes what infer or stream wrote"):
        mixtures_of([("here", row)])


def test_mixtures_that_change_while_they_are_read_are_refused(rows):
    passes = iter([rows, [rows[1], *rows[1:]]])
    with pytest.raises(DamagedDataError, match="--mixtures changed while they were read"):
        read_mixtures(
            lambda: (("here", row) for row in next(passes)),
            {row["model_version"] for row in rows}, TOPICS, int, typical=3, sample=3,
        )  # fmt: skip


@pytest.mark.parametrize("content", [b"oops\n", b"[1]\n", b'{"a": 1}\n{"a"'])
def test_a_damaged_file_is_named(content):
    with pytest.raises(DamagedDataError, match=r"m\.jsonl cannot be read as mixtures: .*copy"):
        list(rows_of_file(io.BytesIO(content), "m.jsonl"))
    with pytest.raises(DamagedDataError, match=r"m\.avro cannot be read as mixtures"):
        list(rows_of_file(io.BytesIO(content), "m.avro"))


def test_times_before_1970_are_read(rows):
    row = {**rows[0], "timestamp": to_iso(-5_000_000)}
    (found,) = mixtures_of([("here", json.dumps(row).encode())])
    assert found.timestamp == -5_000_000


def test_mixtures_of_one_version_take_the_place_of_others(rows):
    found = read(rows, typical=6, sample=30)
    newest = max(found.versions)
    again = {
        m.digest: replace(m, version=newest, proportions=m.proportions[::-1].copy())
        for m in shown(found)[::2]
    }
    before = {m.digest: m for m in shown(found)}
    found.take(again, newest, Limits(typical=2, sample=8), lambda micros: micros // PERIOD * PERIOD)
    assert len(found.sample) == 8 and found.sample == [again.get(m.digest, m) for m in found.sample]
    kept = sorted(m.digest for m in found.sample)
    assert kept == sorted(m.digest for m in read(rows, sample=8).sample)
    new = [again.get(d, m) for d, m in before.items()]
    for topic, chosen in enumerate(found.typical):
        assert {m.version for m in chosen} == {newest} and len(chosen) == 2
        shares = [m.proportions[topic] for m in chosen]
        assert shares == sorted(shares, reverse=True)
    sampled = {m.digest for m in read(rows, sample=30).sample}
    counted = [m for m in new if m.digest in sampled and m.version == newest]
    assert sum(cell.documents for cell in cells_of(found.again).values()) == len(counted)


def test_without_another_mixture_documents_stay(rows):
    found, wanted = read(rows, typical=6, sample=30), read(rows, typical=2, sample=8)
    found.take({}, "none", Limits(typical=2, sample=8), lambda micros: 0)
    for ours, theirs in zip(found.typical, wanted.typical, strict=True):
        assert [m.digest for m in ours] == [m.digest for m in theirs]
    assert [m.digest for m in found.sample] == [m.digest for m in wanted.sample]
    assert found.again is None


def test_more_topics_have_less_room_each():
    assert Limits.of(0) == Limits.of(50) == Limits()
    assert Limits.of(100) == Limits(words=15, ranked=4, typical=5, points=100)
    assert Limits.of(10_000) == Limits(words=10, ranked=3, typical=3, points=50)
