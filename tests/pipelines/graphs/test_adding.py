"""Documents are added with one flag; other attempts end with a message that names it."""

import json
import re
import shutil
from dataclasses import replace

import fake_learner
import pytest

from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.succession import match_topics
from beam_topics.model.reporting.trends import rows_of_file, whole_rows
from beam_topics.pipelines import show, stream, train, versions

DAY = 86_400
WORDS = ["ship", "sailed", "harbour", "judge", "court", "verdict"]
# A month is five windows, and a window one minibatch.
FLAGS = ["--window=6d", "--publish_every=12d", "--learner=fake", "--topics=3"]
ADD = "--add_documents"


@pytest.fixture(autouse=True)
def no_failures():
    fake_learner.FAILURES.at = []


def row(day, number, **others):
    text = " ".join(WORDS[(number * step + day) % 6] for step in range(1, 9))
    return {"id": f"{day}-{number}", "timestamp": day * DAY + 600 * number, "text": text, **others}


def month(number, a_day=3, **others):
    """The documents of 30 days."""
    return [
        row(day, n, **others) for day in range(30 * number, 30 * number + 30) for n in range(a_day)
    ]


class Trial:
    """Commands on one model store."""

    def __init__(self, folder, capsys, first_month):
        self.folder, self._capsys, self._first_month = folder, capsys, first_month

    def begin(self):
        """Have the first month learned."""
        shutil.copytree(self._first_month, self.folder / "models")

    def run(self, rows, *flags, store="models", pipeline=train):
        """(status, standard error) of a command on the rows."""
        path = self.folder / "input.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
        self._capsys.readouterr()
        given = [
            f"--input={path}",
            f"--model_store={self.folder / store}",
            f"--dead_letters={self.folder / 'dead'}",
        ]
        status = pipeline.main([*given, *FLAGS, *flags])
        return status, self._capsys.readouterr().err

    def store(self, store="models"):
        return ModelStore(str(self.folder / store))

    def tree(self):
        root = self.folder / "models"
        return {path: path.is_dir() or path.read_bytes() for path in root.rglob("*")}

    def learned(self, store="models"):
        return self.store(store).latest("").documents


@pytest.fixture(scope="module")
def first_month(tmp_path_factory):
    """A store that has learned the first month."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "input.jsonl").write_text("".join(json.dumps(one) + "\n" for one in month(0)))
    given = [f"--input={folder / 'input.jsonl'}", f"--dead_letters={folder / 'dead'}"]
    fake_learner.FAILURES.at = []
    assert train.main([*given, f"--model_store={folder / 'models'}", *FLAGS]) == 0
    return folder / "models"


@pytest.fixture
def trial(tmp_path, capsys, first_month):
    return Trial(tmp_path, capsys, first_month)


def newest(store):
    found = store.latest("")
    return found.fingerprint, found.snapshot, found.documents, found.tokens


def test_three_months_in_three_commands_are_one_history(trial):
    assert trial.run(month(0))[0] == 0
    for number, flags in ((1, [ADD]), (2, [ADD])):
        before = trial.store().manifests("")
        status, told = trial.run(month(number), *flags)
        assert status == 0
        assert f"continues after minibatch {5 * number}, which ends at 1970-" in told
        assert "late_documents" not in told and "interrupted" not in told
        after = trial.store().manifests("")
        assert after[: len(before)] == before
    versions = trial.store().manifests("")
    assert [one.parent for one in versions] == [None, *(one.version for one in versions[:-1])]
    assert trial.run([*month(0), *month(1), *month(2)], store="whole")[0] == 0
    assert newest(trial.store()) == newest(trial.store("whole"))
    assert trial.learned() == 270


def test_a_stream_goes_on_likewise(trial):
    flags = [f"--output={trial.folder / 'mixtures'}", "--before_first_model=prior"]
    assert trial.run(month(0), *flags, pipeline=stream)[0] == 0
    assert trial.run(month(1), *flags, ADD, pipeline=stream)[0] == 0
    assert trial.learned() == 180
    lines = [
        line
        for path in (trial.folder / "mixtures").glob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert sorted(json.loads(line)["id"] for line in lines) == sorted(
        one["id"] for one in month(0) + month(1)
    )


@pytest.mark.parametrize("flags", [[], ["--key_field=key"]])
def test_two_runs_in_one_window_of_trends_add_up(trial, flags):
    folder = trial.folder / "trends"
    flags = [*flags, f"--trends={folder}", "--trends_window=60d"]
    flags = [*flags, f"--output={trial.folder / 'mixtures'}"]
    for number, more in ((0, []), (1, [ADD])):
        status, told = trial.run(month(number, key="k"), *flags, *more, pipeline=stream)
        assert status == 0, told
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_bytes().splitlines()]
    # Three topics and none, of documents of two months.
    whole = whole_rows(rows_of_file(lines, "trends"))
    assert [row["documents"] for row in whole] == [180] * 4


@pytest.mark.slow
def test_topics_keep_their_numbers(trial):
    real = ["--learner=particle-filter", "--particles=2", "--initial_documents=20"]
    assert trial.run(month(0), *real)[0] == 0
    for number in (1, 2):
        store = trial.store()
        before = store.latest("")
        assert trial.run(month(number), *real, ADD)[0] == 0
        first = next(one for one in store.manifests("") if one.parent == before.version)
        then, now = (store.get_snapshot(one) for one in (before, first))
        assert match_topics(then, now)[0] == list(range(then.topic_count))


def test_the_natural_second_command_leads_to_the_flag(trial):
    trial.begin()
    before = trial.tree()
    status, told = trial.run(month(1))
    assert status == 2 and trial.tree() == before
    assert (
        "To learn what the input holds beyond those that were learned, add --add_documents:" in told
    )
    assert "Traceback" not in told and len(told.splitlines()) <= 2
    assert trial.run(month(1), ADD)[0] == 0


def test_going_on_with_other_input_leads_to_the_flag(trial):
    trial.begin()
    status, told = trial.run([*month(1), *month(2, a_day=1)], "--resume_from=latest")
    assert status == 2
    assert "this input holds other documents up to there, or fewer." in told
    assert "add --add_documents:" in told


def test_going_on_with_less_than_was_learned_is_not_a_success(trial):
    trial.begin()
    status, told = trial.run(month(1)[:-30], "--resume_from=latest")
    assert status == 2
    assert "other documents up to there, or fewer." in told and "add --add_documents:" in told
    assert trial.learned() == 90


def test_the_same_input_again_changes_nothing(trial):
    trial.begin()
    before = trial.store().manifests("")
    assert trial.run(month(0))[0] == 0
    assert trial.run(month(0), "--resume_from=latest")[0] == 0
    assert trial.store().manifests("") == before


def test_a_growing_file_is_learned_once_and_this_is_said(trial):
    """Yesterday's file ended within a window of six days."""
    rows = [*month(0), *month(1)]
    trial.run(rows[:100])
    before = trial.store().manifests("")
    assert trial.run(rows[:120])[0] == 2
    for known, count in ((100, 120), (120, 120), (120, 180)):
        status, told = trial.run(rows[:count], ADD)
        assert status == 0
        said = f"{known} documents were known: they were learned before. {count - known} are new."
        assert said in told and "windows that were closed already" not in told
        assert trial.learned() == count
    assert trial.store().manifests("")[: len(before)] == before


def test_rows_are_known_by_their_contents_where_ids_are_places(trial):
    rows = [{name: one[name] for name in ("timestamp", "text")} for one in month(0)]
    place = "--id_from=place"
    trial.run(rows[:50], place)
    # The newest row comes first in the next file.
    status, told = trial.run(rows[::-1], place, ADD)
    assert status == 0 and "50 documents were known" in told
    assert trial.learned() == 90


def test_a_later_text_of_a_known_id_is_not_learned(trial):
    trial.begin()
    rows = [{**row, "text": "another text"} for row in month(0)]
    status, told = trial.run(rows, ADD)
    assert status == 0 and "90 documents were known: they were learned before. 0 are new." in told


OTHERS = [{**row, "id": f"other {row['id']}"} for row in month(1)]


@pytest.mark.parametrize("again", [OTHERS, [*OTHERS, *month(2)]], ids=["month", "overlap"])
def test_another_past_is_refused_before_anything_is_learned(trial, again):
    trial.begin()
    trial.run(month(1), ADD)
    before = trial.store().manifests("")
    status, told = trial.run(again, ADD)
    assert status == 2
    found = re.search(
        r"(\d+) of (\d+) new documents are older than the last window that the model store has"
        r" learned, which begins at 1970",
        told,
    )
    older = sum(one["timestamp"] < 54 * DAY for one in again)
    assert (int(found[1]), int(found[2])) == (older, len(again))
    assert "--add_documents allows 10%. Nothing of this input was learned." in told
    assert trial.store().manifests("") == before


def test_stragglers_are_learned_and_told(trial):
    trial.begin()
    status, told = trial.run([row(3, 7), *month(1)], ADD)
    assert status == 0
    assert (
        "1 documents belong to windows that were closed already, and were learned with the next"
        " window." in told
    )
    assert trial.learned() == 90 + 91
    assert not (trial.folder / "dead").exists()


def test_the_rest_of_a_window_that_was_closed_early_is_added(trial):
    """The last window's documents may be new, so they are not refused.

    They cannot be told from those that were learned.
    """
    today = [row(5, n) for n in range(40)]
    trial.run(today[:20])
    assert trial.run(today[20:], ADD)[0] == 0
    assert trial.learned() == 40


@pytest.mark.parametrize("added", [False, True], ids=["the first input", "an added input"])
def test_what_was_learned_of_an_input_that_was_mostly_refused_can_be_given_up(trial, added):
    flags, number = ([ADD], 1) if added else ([], 0)
    if added:
        trial.run(month(0))
    rows = month(number)
    wrong = [row if n % 3 == 0 else {**row, "text": None} for n, row in enumerate(rows)]
    status, told = trial.run(wrong, *flags)
    assert status == 3 and trial.learned() == 90 * number + 30
    assert trial.run(rows, *flags)[0] == 2
    (advice,) = re.findall(r"Before you learn it corrected, run (.*)\.$", told, re.MULTILINE)
    if added:
        command, *given = advice.removeprefix("beam-topics versions ").split()
        assert versions.main([command, *given]) == 0
    else:
        assert advice == f"rm -r {trial.folder / 'models'}"
        shutil.rmtree(trial.folder / "models")
    assert trial.run(rows, *flags)[0] == 0
    assert trial.learned() == 90 * number + 90


def test_a_new_key_beside_one_that_is_refused_leaves_nothing(trial):
    keyed = "--key_field=kind"
    # In alphabetical order a new key comes before and after the one that was learned.
    later = [row for kind in "abc" for row in month(1, a_day=2, kind=kind)]
    trial.run(month(0, kind="b"), keyed)
    before = trial.tree()
    status, told = trial.run(later, keyed)
    assert status == 2 and trial.tree() == before
    assert "key 'b', is at version" in told and "add --add_documents" in told
    status, told = trial.run(later, keyed, "--topics=4", ADD)
    assert status == 2 and trial.tree() == before
    assert "--topics is 3 there and 4 here" in told
    other = [{**row, "id": f"other {row['id']}"} for row in month(0, kind="b")]
    status, told = trial.run([*month(1, kind="a"), *other], keyed, ADD)
    assert status == 2 and trial.tree() == before
    assert "new documents of key 'b' are older" in told
    assert trial.run(later, keyed, ADD)[0] == 0
    store = trial.store()
    assert [store.latest(key).documents for key in "abc"] == [60, 150, 60]


def test_new_keys_begin_anew_and_this_is_said(trial):
    keyed = "--key_field=kind"
    trial.run(month(0, kind="old"), keyed)
    status, told = trial.run([*month(1, kind="old"), *month(1, a_day=1, kind="new")], keyed, ADD)
    assert status == 0
    assert "1 keys continue from their newest checkpoint; any other key starts a new" in told
    assert "1 new keys started a model." in told
    assert (trial.store().latest("old").documents, trial.store().latest("new").documents) == (
        180,
        30,
    )
    status, told = trial.run(month(0, a_day=2, kind="old"), keyed, ADD)
    assert status == 0 and "60 documents were known" in told


@pytest.mark.parametrize("keyed", [[], ["--key_field=kind"]])
def test_the_first_documents_are_not_added(trial, keyed):
    status, told = trial.run(month(0, kind="a"), ADD, *keyed)
    assert status == 2
    assert (
        "--add_documents: True was given; allowed is a model store that has learned documents, and "
        in told
    )
    assert (
        "has no checkpoint. Leave it out for the first documents, or correct --model_store." in told
    )
    assert not (trial.folder / "models").exists()


def test_after_an_interrupted_run_its_input_comes_first(trial):
    fake_learner.FAILURES.at = [4]
    with pytest.raises(fake_learner.StepFailed):
        trial.run(month(0), "--checkpoint_tokens=100")
    fake_learner.FAILURES.at = []
    store = trial.store()
    at = store.resume_point("", "latest", 1)[0]
    assert at.sequence == 3
    status, told = trial.run(month(1), ADD)
    assert status == 2
    assert (
        "has no version. Its run was interrupted. Finish it first: run it again with"
        " --resume_from=latest." in told
    )
    assert trial.run(month(0), "--resume_from=latest")[0] == 0
    assert trial.run(month(1), ADD)[0] == 0
    assert trial.learned() == 180


def test_a_version_that_no_checkpoint_knows_is_told_before_the_run(trial):
    trial.begin()
    store = trial.store()
    last = store.latest("")
    store.publish(replace(last, sequence=last.sequence + 1, parent=last.version))
    status, told = trial.run(month(1), ADD)
    assert status == 2
    assert "and its newest checkpoint is of minibatch 5: the run before was interrupted." in told
    assert (
        "Finish it first: run it again with --resume_from=latest; if it had --add_documents, with"
        " --add_documents and" in told
    )


@pytest.mark.parametrize("again", [[], ["--resume_from=5"]], ids=["on", "anew"])
def test_an_addition_that_was_interrupted_goes_on(trial, again):
    trial.begin()
    fake_learner.FAILURES.at = [9]
    with pytest.raises(fake_learner.StepFailed):
        trial.run(month(1), ADD, "--checkpoint_tokens=100")
    fake_learner.FAILURES.at = []
    assert trial.store().resume_point("", "latest", 1)[0].sequence == 8
    assert trial.run(month(1), ADD, *again)[0] == 0
    assert trial.run([*month(0), *month(1)], store="whole")[0] == 0
    assert newest(trial.store()) == newest(trial.store("whole"))


@pytest.mark.parametrize("key", [[], ["--key_field=label"]], ids=["one model", "keys of records"])
def test_a_used_store_with_another_publish_every_is_refused_before_anything_is_learned(trial, key):
    rows = month(0, label="a")
    assert trial.run(rows, *key)[0] == 0
    files = sorted(path for path in (trial.folder / "models").rglob("*") if path.is_file())
    status, told = trial.run(rows, *key, "--publish_every=18d")
    assert status == 2
    assert "published with --publish_every=1w5d" in told
    assert "would make them again with --publish_every=2w4d" in told
    assert files == sorted(path for path in (trial.folder / "models").rglob("*") if path.is_file())
    # What comes after the versions may have another rhythm.
    assert trial.run(month(1, label="a"), *key, ADD, "--publish_every=18d")[0] == 0
    store = trial.store()
    rhythms = [one.publish_every for one in store.manifests("a" if key else "")]
    assert rhythms[0] == {"period": 12 * 86_400_000_000}
    assert rhythms[-1] == {"period": 18 * 86_400_000_000}


KEEP = "--keep=versions:24d,checkpoints:2,grace:0"


def test_a_store_whose_old_versions_expired_goes_on_as_one_that_keeps_all(trial, capsys):
    for number in range(4):
        add = [ADD] if number else []
        assert trial.run(month(number), *add)[0] == 0
        assert trial.run(month(number), *add, KEEP, store="short")[0] == 0
    whole, short = trial.store(), trial.store("short")
    history = short.manifests("")
    assert newest(whole) == newest(short)
    # The manifests differ from those of the whole store in nothing, so the names are the same.
    assert [one.version for one in history] == [
        one.version for one in whole.manifests("")[-len(history) :]
    ]
    assert history[0].parent is not None and len(history) < len(whole.manifests(""))
    assert len(short.checkpoints("")) < len(whole.checkpoints(""))
    # It is shown, and a run that was interrupted is repeated.
    assert show.main([f"--model_store={short.root}"]) == 0
    point = str(short.checkpoints("")[-2].sequence)
    assert trial.run(month(3), ADD, f"--resume_from={point}", store="short")[0] == 0
    assert newest(whole) == newest(short)


def test_a_run_from_the_start_cannot_repeat_a_history_whose_begin_expired(trial):
    for number in range(3):
        assert trial.run(month(number), *([ADD] if number else []), KEEP)[0] == 0
    status, told = trial.run([*month(0), *month(1), *month(2)])
    assert status != 0
    assert "its versions before" in told and "have expired" in told


class TestAnArchiveThatGoesOnAsAStream:
    FLAGS = ("--learner=gibbs", "--topics=3", "--threads=1")
    ARCHIVE = ("--schedule=archive", "--sweeps=3")

    @pytest.fixture
    def archive(self, trial):
        """A trial whose store has learned the first month as an archive."""
        assert trial.run(month(0), *self.FLAGS, *self.ARCHIVE)[0] == 0
        return trial

    @pytest.mark.parametrize("pipeline", [train, stream])
    def test_both_are_one_history(self, archive, pipeline):
        first = archive.store().latest("")
        more = [f"--output={archive.folder / 'mixtures'}"] if pipeline is stream else []
        status, err = archive.run(month(1), *self.FLAGS, ADD, *more, pipeline=pipeline)
        assert status == 0 and "goes on with --schedule=stream" in err, err
        history = archive.store().manifests("")
        assert first in history and history[-1].documents == 180
        model, last = map(archive.store().get_snapshot, (first, history[-1]))
        assert match_topics(model, last)[0] == list(range(model.topic_count))
        # Afterwards it is a stream like any other.
        status, err = archive.run(month(2), *self.FLAGS, ADD)
        assert status == 0 and archive.learned() == 270 and "goes on with" not in err

    def test_a_stream_does_not_become_an_archive(self, archive):
        archive.run(month(1), *self.FLAGS, ADD)
        before = archive.tree()
        status, err = archive.run(month(2), *self.FLAGS, *self.ARCHIVE, ADD)
        assert status != 0 and archive.tree() == before
        assert '--schedule is "stream" there and "archive" here. Give the same settings' in err
        assert archive.run(month(2), *self.FLAGS, "--schedule=stream", ADD)[0] == 0

    def test_a_run_that_is_refused_or_has_nothing_new_leaves_the_archive(self, archive):
        before = archive.tree()
        status, err = archive.run(month(0), *self.FLAGS, ADD)
        assert status == 0 and archive.tree() == before, err
        others = [{**one, "id": f"other {one['id']}"} for one in month(0)]
        assert archive.run(others, *self.FLAGS, ADD)[0] != 0
        assert archive.tree() == before
        assert archive.run(month(1), *self.FLAGS, *self.ARCHIVE, ADD)[0] == 0

    def test_after_a_roll_back_to_the_archive_the_stream_begins_again(self, archive):
        first = archive.store().latest("").version
        archive.run(month(1), *self.FLAGS, ADD)
        again = archive.store().latest("").version
        at = [f"--model_store={archive.folder / 'models'}", f"--model_version={first}"]
        assert versions.main(["rollback", *at]) == 0
        assert archive.run(month(1), *self.FLAGS, ADD)[0] == 0
        assert archive.store().latest("").version == again

    def test_it_goes_on_from_the_newest_version_only(self, archive):
        early = archive.store().checkpoints("")[0].sequence
        assert archive.run(month(1), *self.FLAGS, *self.ARCHIVE, ADD)[0] == 0
        before = archive.tree()
        status, err = archive.run(month(2), *self.FLAGS, ADD, f"--resume_from={early}")
        assert status != 0 and archive.tree() == before
        assert "is not the end of what was learned before. Leave out --resume_from" in err
        assert archive.run(month(2), *self.FLAGS, ADD)[0] == 0
