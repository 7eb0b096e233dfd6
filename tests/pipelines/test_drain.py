"""A stream that another job continues after a drain, and a job that is updated, lose nothing.

A drain looks to the graph like the end of its input: the sources stop, and the watermark goes to
its end. So the first half of a corpus is a drained job, and a second job with the other half and
``--add_documents`` continues it.
"""

import json
import re

import fake_learner
import pytest

from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import stream, train

COUNT = 60
DAY, WEEK = 86_400, 7 * 86_400_000_000
FLAGS = [
    "--window=7d",
    "--publish_every=14d",
    "--minibatch_size=5",
    "--learner=fake",
    "--topics=3",
    "--checkpoint_tokens=60",
]
WORDS = ["ship", "sailed", "harbour", "judge", "court", "verdict"]
ADDED = "--add_documents"


@pytest.fixture(autouse=True)
def no_failures():
    fake_learner.FAILURES.at = []


def time_of(row):
    return row["timestamp"] * 1_000_000


def text(number):
    return " ".join(WORDS[(number * step) % 6] for step in range(1, 9))


ROWS = [
    {"id": f"d{number}", "timestamp": number * DAY * 2 // 3, "text": text(number)}
    for number in range(COUNT)
]
WINDOWS = sorted({time_of(row) // WEEK for row in ROWS})
BOUNDARY = next(at for at, row in enumerate(ROWS) if time_of(row) // WEEK == WINDOWS[3])
# Three documents of the window are on this side.
MIDDLE = BOUNDARY + 3
REST_OF_WINDOW = sum(time_of(row) // WEEK == WINDOWS[3] for row in ROWS[MIDDLE:])


def lines(folder):
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def part(tmp_path, name, rows):
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def learn(tmp_path, rows, *flags, store="models", pipeline=train):
    given = [
        f"--input={part(tmp_path, 'input', rows)}",
        f"--model_store={tmp_path / store}",
        f"--dead_letters={tmp_path / 'dead'}",
    ]
    assert pipeline.main([*given, *FLAGS, *flags]) == 0
    return ModelStore(str(tmp_path / store))


def end_of(store):
    """What the learner came to, and how much of it was learned."""
    newest = store.latest("")
    return newest.fingerprint, newest.snapshot, newest.documents, newest.tokens


def late(error):
    found = re.search(r"late_documents (\d+)", error)
    return int(found[1]) if found else 0


def test_drained_in_the_middle_of_a_window(tmp_path, capsys):
    before = learn(tmp_path, ROWS[:MIDDLE]).manifests("")
    # All that came was learned, the window that had not ended included.
    assert before[-1].documents == MIDDLE
    capsys.readouterr()
    store = learn(tmp_path, ROWS[MIDDLE:], ADDED)
    after = store.manifests("")
    assert after[: len(before)] == before
    assert after[-1].documents == COUNT
    assert after[-1].tokens == sum(len(row["text"].split()) for row in ROWS)
    # The window that was closed early takes its other documents.
    assert REST_OF_WINDOW > 0 and late(capsys.readouterr().err) == 0
    assert not (tmp_path / "dead").exists()


def test_drained_between_two_windows_it_comes_to_the_bits_of_a_run_that_nothing_happened_to(
    tmp_path, capsys
):
    whole = end_of(learn(tmp_path, ROWS, store="whole"))
    learn(tmp_path, ROWS[:BOUNDARY])
    assert end_of(learn(tmp_path, ROWS[BOUNDARY:], ADDED)) == whole
    assert late(capsys.readouterr().err) == 0


@pytest.mark.slow
def test_drained_twice_and_with_islands(tmp_path):
    islands = ["--learner=particle-filter", "--islands=3", "--particles=6", "--initial_documents=9"]
    whole = end_of(learn(tmp_path, ROWS, *islands, store="whole"))
    again = next(at for at, row in enumerate(ROWS) if time_of(row) // WEEK == WINDOWS[-1])
    learn(tmp_path, ROWS[:BOUNDARY], *islands)
    learn(tmp_path, ROWS[BOUNDARY:again], *islands, ADDED)
    assert end_of(learn(tmp_path, ROWS[again:], *islands, ADDED)) == whole


def test_every_document_is_labelled_once_and_the_second_job_begins_with_the_newest_model(
    tmp_path,
):
    flags = [f"--output={tmp_path / 'mixtures'}", "--before_first_model=prior"]
    newest = learn(tmp_path, ROWS[:MIDDLE], *flags, pipeline=stream).latest("")
    store = learn(tmp_path, ROWS[MIDDLE:], *flags, ADDED, pipeline=stream)
    labels = {row["id"]: row["model_version"] for row in lines(tmp_path / "mixtures")}
    assert len(labels) == len(lines(tmp_path / "mixtures")) == COUNT
    first_after = store.manifests("")[
        [m.version for m in store.manifests("")].index(newest.version) + 1
    ]
    # The rest of the window that was closed early is labelled as its beginning was.
    for row in ROWS[MIDDLE + REST_OF_WINDOW :]:
        if (time_of(row) // WEEK + 1) * WEEK <= first_after.event_time:
            assert labels[row["id"]] == newest.version


CHANGED = [
    "--publish_every=3windows",
    "--checkpoint_tokens=100",
    "--threads=2",
    "--max_state_mb=100",
    "--max_document_mb=1",
]


def test_an_update_with_other_options_keeps_the_chain(tmp_path):
    whole = end_of(learn(tmp_path, ROWS, store="whole"))
    learn(tmp_path, ROWS[:BOUNDARY])
    store = learn(tmp_path, ROWS[BOUNDARY:], ADDED, *CHANGED)
    assert end_of(store) == whole
    versions = store.manifests("")
    assert [manifest.parent for manifest in versions] == [
        None,
        *(manifest.version for manifest in versions[:-1]),
    ]


def test_changed_settings_of_learning_are_refused(tmp_path, capsys):
    store = learn(tmp_path, ROWS[:BOUNDARY])
    before = store.manifests("")
    rest = part(tmp_path, "rest", ROWS[BOUNDARY:])
    given = [
        f"--input={rest}",
        f"--model_store={tmp_path / 'models'}",
        f"--dead_letters={tmp_path / 'dead'}",
    ]
    for flag, told in {
        "--window=3d": "--window is 1w there and 3d here",
        "--minibatch_size=4": "--minibatch_size is 5 there and 4 here",
        "--min_word_length=4": "--min_word_length is",
        "--topics=4": "--topics is 3 there and 4 here",
        "--seed=8": "--seed is",
    }.items():
        capsys.readouterr()
        assert train.main([*given, *FLAGS, ADDED, flag]) == 2
        error = capsys.readouterr().err
        assert (
            told in error
            and "Give the same settings, or use an empty model store." in error
            and error.count("\n") == 1
        )
    assert store.manifests("") == before


def test_reading_again_what_was_drained_within_a_window_is_refused_with_the_way_out(
    tmp_path, capsys
):
    learn(tmp_path, ROWS[:MIDDLE])
    capsys.readouterr()
    given = [
        f"--input={part(tmp_path, 'all', ROWS)}",
        f"--model_store={tmp_path / 'models'}",
        f"--dead_letters={tmp_path / 'dead'}",
    ]
    assert train.main([*given, *FLAGS, "--resume_from=latest"]) == 2
    assert "learned, add --add_documents:" in capsys.readouterr().err
