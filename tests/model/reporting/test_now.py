"""The newest windows of trends and stories, and what they say of the last one."""

import json

import pytest
from reported import DAY, HOSTILE, TOPICS, published, stories_of, trends_of

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.publishing.catalogue import Catalogue
from beam_topics.model.reporting import now
from beam_topics.model.reporting.course import bursts_of
from beam_topics.model.reporting.now import Newest, now_of
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.reporting.trends import merged_rows, whole_rows


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    store = published(tmp_path_factory.mktemp("run") / "models")
    manifest = store.manifest("")
    return Shown(Catalogue(), manifest, store.get_snapshot(manifest))


def taken(newest, path):
    with path.open("rb") as stream:
        newest.take(stream, str(path))


def test_the_last_window_has_what_rises_and_its_bursts(tmp_path, shown):
    newest = Newest()
    taken(newest, trends_of(tmp_path))
    rows = newest.rows("")
    found = now_of(rows, shown, 50, "month")
    (burst,) = bursts_of(merged_rows(whole_rows(rows), shown))
    assert (found["start"], found["end"]) == (19 * DAY // 1000, 20 * DAY // 1000)
    assert found["documents"] == 100 and found["judged"]
    p = float(f"{burst.probability:.2g}")
    assert found["rising"] == [[1, 60.0, round(burst.expected, 1), p]] and found["groups"] is None
    id = f"{HOSTILE[0]} 19"[:49]
    ((start, *told, ids),) = found["bursts"]
    assert (start, told) == (found["start"], found["rising"][0]) and ids[0].startswith(id[:40])


def test_too_few_windows_are_not_judged(tmp_path, shown):
    newest = Newest()
    taken(newest, trends_of(tmp_path, windows=5))
    found = now_of(newest.rows(""), shown, 50, "month")
    assert not found["judged"] and not found["rising"] and not found["bursts"]
    assert now_of([], shown, 50, "month") is None
    assert now_of(newest.rows("other"), shown, 50, "month") is None


def test_groups_have_their_shares_by_period(tmp_path, shown):
    newest = Newest()
    taken(newest, trends_of(tmp_path, windows=40, group=HOSTILE[0]))
    taken(newest, trends_of(tmp_path, windows=5, start=35, group="b", burst=3))
    found = now_of(newest.rows(""), shown, 50, "month")["groups"]
    assert found["name"] == [HOSTILE[0], "b"] and found["all"] == 2
    assert found["period"] == [["1970-01", "1970-02"], ["1970-02"]]
    assert found["documents"] == [[3100, 900], [500]]
    # Of five windows the last has .6 of its documents, and topic 3 of the others .17 and .15.
    assert found["shares"][1][0][3] == pytest.approx((2 * 0.17 + 2 * 0.15 + 0.6) / 5, abs=1e-4)
    assert found["shares"][0][0][1] == pytest.approx((15 * 0.15 + 16 * 0.17) / 31, abs=1e-4)


def test_documents_of_bursts_and_stories_are_told(tmp_path, shown):
    newest = Newest()
    for path in (trends_of(tmp_path), stories_of(tmp_path)):
        path = path or tmp_path / "stories-1.jsonl"
        taken(newest, path)
    told = newest.told(shown, [shown.manifest], 500)
    assert told.documents == {
        f"{HOSTILE[0]} 19",
        f"{HOSTILE[1]} 1",
        f"{HOSTILE[1]} 2",
        f"{HOSTILE[4]} 4",
    }


def test_files_in_any_order_give_the_same(tmp_path, shown):
    paths = [trends_of(tmp_path, 7, start=0), trends_of(tmp_path, 13, start=7)]
    found = []
    for order in (paths, paths[::-1], [*paths, *paths]):
        newest = Newest()
        for path in order:
            taken(newest, path)
        found.append(now_of(newest.rows(""), shown, 50, "month"))
    assert found[0] == found[1] == found[2] and found[0]["bursts"]


def test_memory_is_bounded_and_the_newest_windows_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(now, "MOST_ROWS", 12 * (TOPICS + 1))
    newest = Newest()
    taken(newest, trends_of(tmp_path, windows=3, key="quiet"))
    taken(newest, trends_of(tmp_path, windows=50, start=10))
    rows = newest.rows("")
    starts = sorted({row["window_start"] // DAY for row in rows})
    # Of twelve windows one is the last of the other key, which stays.
    assert starts == list(range(49, 60)) and len(rows) == 11 * (TOPICS + 1)
    assert [bool(row["typical"]) for row in rows] == [
        row["window_start"] // DAY >= 60 - now.RECENT for row in rows
    ]
    assert {row["window_start"] for row in newest.rows("quiet")} == {2 * DAY}


def test_a_state_changes_with_the_files_of_a_key_alone(tmp_path):
    newest = Newest()
    assert newest.state("") == "" and newest.stories("") is None
    taken(newest, trends_of(tmp_path, key="other"))
    assert newest.state("") == "" and newest.state("other") == ".1"
    stories_of(tmp_path)
    taken(newest, tmp_path / "stories-1.jsonl")
    assert newest.state("") == ".1"
    assert [one["came"] for one in newest.stories("")] == [9, 2]


@pytest.mark.parametrize(
    "change",
    [
        {"documents": 0},
        {"documents": float("nan")},
        {"mean_share": float("inf")},
        {"mean_share": "x"},
        {"topic": -1},
        {"topic": 1.5},
        {"typical": [{"id": 1, "timestamp": "2024-01-01", "share": 0.5}]},
        {"typical": [{"id": "a", "timestamp": "2024-01-01", "share": None}]},
        {"window_start": "soon"},
        {"key": None},
    ],
)
def test_a_damaged_row_is_refused_and_those_before_it_stay(tmp_path, change):
    path = trends_of(tmp_path, windows=1)
    lines = path.read_text().splitlines()
    lines[1] = json.dumps({**json.loads(lines[1]), **change})
    path.write_text("\n".join(lines))
    newest = Newest()
    with pytest.raises(DamagedDataError, match="cannot be read as trends"):
        taken(newest, path)
    assert len(newest.rows("")) == 1


@pytest.mark.parametrize(
    "change", [{"came": float("nan")}, {"topics": [{"topic": "x"}]}, {"words": [1]}]
)
def test_a_damaged_story_is_refused(tmp_path, change):
    stories_of(tmp_path)
    path = tmp_path / "stories-1.jsonl"
    row = json.loads(path.read_text().splitlines()[0])
    path.write_text(json.dumps({**row, **change}))
    with pytest.raises(DamagedDataError, match="cannot be read as stories"):
        taken(Newest(), path)


def test_rows_nested_too_deep_are_refused(tmp_path):
    path = tmp_path / "trends-1.jsonl"
    path.write_text("[" * 100_000)
    with pytest.raises(DamagedDataError, match="cannot be read as trends"):
        taken(Newest(), path)
