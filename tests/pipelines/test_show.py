"""What ``beam_topics.pipelines.show`` prints and draws of a store."""

import fake_learner
import reported
from exported import learned
from hostile import stored
from made import manifest_of, random_snapshot

from beam_topics.model.publishing.events import Event
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines import show, train

FAKE = ["--topics=2", f"--learner={fake_learner.Fake.kind}"]
DAY = 86_400_000_000
FIGURES = {"gain": 0.5, "usual": 0.1, "rise": 0.2}
CAME = [[8.0, 1.0, 0.0, 0.0, 1.0], [0.0, 2.0, 0.0, 8.0, 0.0], [1.0, 2.0, 1.0, 5.0, 1.0]]


def published(root):
    """A store with three versions, a day apart; the last one comes from another particle."""
    store, parent = ModelStore(str(root)), None
    settings = {"tokeniser": TokeniserSettings(stop_words="none").to_json(), "learner": {}}
    replaced = {"island": 0, "particle": 1, "versions": 3, "since": 2 * DAY}
    for number, came in enumerate(CAME):
        manifest = manifest_of(
            number + 1,
            parent,
            event_time=(number + 1) * DAY,
            snapshot=store.put_snapshot(random_snapshot(number, sequence=number + 1)),
            settings=settings,
            islands=1,
            topic_tokens=came,
            replaced=replaced if number == 2 else None,
        )
        parent = store.publish(manifest).version
    return store


def printed(store, capsys, *options):
    assert show.main([f"--model_store={store.root}", *options]) == 0
    return capsys.readouterr().out


def test_curves_have_dates_and_are_of_what_came(tmp_path, capsys):
    told = printed(published(tmp_path), capsys)
    assert "share of what came, 1970-01-02 to 1970-01-04" in told
    # Topic 0 has .8, 0 and .1 of what came; topic 3 has 0, .8 and .5.
    curves = {}
    for line in told.splitlines():
        cells = [cell.strip() for cell in line.split("│")]
        if len(cells) == 4 and cells[0].isdigit():
            curves[int(cells[0])] = cells[2]
    assert curves[0] == "█▁▂" and curves[3] == "▁█▆"


def test_the_title_says_how_many_versions_the_table_has(tmp_path, capsys):
    told = printed(reported.published(tmp_path, versions=13), capsys)
    assert "\n12 of 13 versions\n" in told
    assert "\n3 versions\n" in printed(published(tmp_path / "few"), capsys)


def test_one_line_says_that_a_version_comes_from_another_particle(tmp_path, capsys):
    told = printed(published(tmp_path), capsys)
    assert told.count(" comes from particle 0, its parent from particle 1. ") == 1
    assert "better in 3 versions in a row, since 1970-01-03" in told


def test_the_last_versions_with_events_are_listed_in_their_order(tmp_path, capsys):
    store, parent = ModelStore(str(tmp_path)), None
    for number in range(1, 8):
        told = Event("birth", 99, 999, [1], "wagers", FIGURES, time=number * DAY)
        manifest = manifest_of(
            number,
            parent,
            event_time=number * DAY,
            snapshot=store.put_snapshot(random_snapshot(number, sequence=number)),
            settings={"tokeniser": TokeniserSettings(stop_words="none").to_json()},
            events=[told.to_json()],
            new_words=[{"topic": 1, "words": ["a"], "came": [9.0], "had": [0.0]}] * (number == 7),
        )
        parent = store.publish(manifest).version
    told = [line for line in printed(store, capsys).splitlines() if "1 topic born" in line]
    assert [line[:10] for line in told] == [f"1970-01-{n + 1:02}" for n in range(3, 8)]
    assert "with 99 documents: 1" in told[0]
    assert told[-1].endswith("; new words: a 9 (0 before, topic 1)")


def test_chosen_topics_are_listed_with_more_words(tmp_path, capsys):
    store = published(tmp_path)
    told = printed(store, capsys, "--topic_ids=3,1", "--top_words=12")
    listed = [[cell.strip() for cell in line.split("│")] for line in told.splitlines()]
    rows = {row[0] for row in listed if len(row) == 4 and row[0].isdigit()}
    assert rows == {"1", "3"}
    words = store.get_snapshot(store.manifest("")).top_words(12)[3]
    assert words[11] in told and words[11] not in printed(store, capsys, "--topic_ids=3")


def test_a_topic_that_is_not_shown_is_told(tmp_path, capsys):
    store = published(tmp_path)
    assert show.main([f"--model_store={store.root}", "--topic_ids=3,9"]) == 2
    told = capsys.readouterr().err
    version = store.manifest("").version
    assert (
        f"--topic_ids: 9 was given; allowed is topics that version {version} shows. "
        "Without --topic_ids all of them are listed." in " ".join(told.split())
    )


def test_mixed_topics_are_judged_by_the_documents_of_the_newest_checkpoint(tmp_path, capsys):
    learned(tmp_path)
    told = printed(ModelStore(str(tmp_path)), capsys, "--mixed")
    assert "0 of 2 topics are judged mixed, by 120 documents." in told
    assert "as a ratio to chance. Up to 1.1" in told
    learned(tmp_path / "one", topics=1)
    told = printed(ModelStore(str(tmp_path / "one")), capsys, "--mixed")
    assert "1 of 1 topics are judged mixed, by 120 documents" in told
    table = told[told.index("1 of 1 topics") :].splitlines()
    topic, across, words = (cell.strip() for cell in table[3].split("│"))
    assert topic == "0" and float(across) <= 1.1 and len(words.split()) == 10


def test_a_store_that_was_not_counted_has_no_curves(tmp_path, capsys):
    store, _ = stored(tmp_path)
    told = printed(store, capsys)
    assert "▁" not in told and "█" not in told and "a blank where nothing came" in told


def test_a_run_without_times_shows_none(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"a ship in harbour {'abcdef'[n % 6] * 3} {n}\n" for n in range(60))
    (tmp_path / "a.txt").write_text(rows)
    assert train.main(["a.txt", "--format=lines", *FAKE]) == 0
    assert show.main(["a.topics"]) == 0
    said = capsys.readouterr()
    assert "1970" not in said.out and "share of what came, the order of" in said.out
    assert "up to" not in said.err.partition("event time")[0]
