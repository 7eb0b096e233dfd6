"""A run that is refused leaves the store byte for byte as it was, and what the message says works.

A store has learned January. Each case is a run that is refused on it, and the run that its message
advises.
"""

import errno
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import fake_learner
import numpy as np
import pytest
from blocks import joined
from fake_learner import fake_settings
from streams import document, learn_options

from beam_topics.model.errors import BeamTopicsError, DamagedDataError, OutputError
from beam_topics.model.learner_log.local import learn_documents
from beam_topics.model.publishing.store import ModelStore

MONTH = 100
EVERY = ("windows", 3)


@pytest.fixture(autouse=True)
def no_failures():
    fake_learner.FAILURES.at = []


def month(number, name="d"):
    """Three documents in each of ten windows."""
    begin = MONTH * number
    return [document(f"{name}{begin + n}", begin + 3.3 * n) for n in range(30)]


JANUARY, FEBRUARY, MARCH = month(0), month(1), month(2)


def tree(root):
    """The files of a store and what they hold; not even a folder is there before the first."""
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in sorted(Path(root).rglob("*"))
    }


def learn(root, documents, islands=1, settings=(), **run):
    """Learn in a new process."""
    values = {"publish_every": EVERY, "checkpoint_tokens": 20, **run}
    options = learn_options(root, fake_settings(islands=islands), **values)
    options = replace(options, settings=replace(options.settings, **dict(settings)))
    return learn_documents(joined(documents), options, lambda letter: None)


@dataclass
class Refused:
    """A run that is refused.

    Attributes:
        documents: What it reads.
        told: What the message says, a regular expression.
        advised: What it reads when the advice is followed.
        given, then: The options of the run, and those that are advised.
        elsewhere: Whether the advice is another store.
    """

    documents: list
    told: str
    advised: list
    given: dict = field(default_factory=dict)
    then: dict = field(default_factory=dict)
    elsewhere: bool = False


ADDED, RESUMED = {"add_documents": True}, {"resume_from": "latest"}
OTHERS = "holds other documents up to there, or fewer"
CASES = {
    "february without the option": Refused(
        FEBRUARY, f"{OTHERS}.*add --add_documents", FEBRUARY, then=ADDED
    ),
    "a longer month without the option": Refused(
        [*FEBRUARY, *MARCH], f"{OTHERS}.*add --add_documents", [*FEBRUARY, *MARCH], then=ADDED
    ),
    "one document more in the last window": Refused(
        [*JANUARY, document("more", 98)], OTHERS + ".*an empty model store", JANUARY, elsewhere=True
    ),
    "half of the documents": Refused(
        JANUARY[:15], OTHERS + ".*give the same input.*--resume_from=latest", JANUARY, then=RESUMED
    ),
    # The last version of January is no version of a run over both months.
    "both months": Refused(
        [*JANUARY, *FEBRUARY],
        "another one, after minibatch 12, .*add --add_documents",
        FEBRUARY,
        then=ADDED,
    ),
    "both months, and the advice to roll back": Refused(
        [*JANUARY, *FEBRUARY], "rollback .*and start this run again", [*JANUARY, *FEBRUARY]
    ),
    "other settings": Refused(
        FEBRUARY,
        "alpha is .* there and .* here.*Give the same settings",
        FEBRUARY,
        {**ADDED, "settings": {"alpha": 0.7}},
        ADDED,
    ),
    "other times of versions": Refused(
        JANUARY,
        "--publish_every=3windows.*Give the same --publish_every",
        JANUARY,
        {"publish_every": ("windows", 2)},
    ),
    "other times of versions, and documents to add": Refused(
        FEBRUARY,
        "--add_documents, with any",
        FEBRUARY,
        {"publish_every": ("windows", 2)},
        {"publish_every": ("windows", 2), **ADDED},
    ),
    "no such checkpoint": Refused(
        JANUARY, r"the newest: .*10\)\. Give one of those", JANUARY, {"resume_from": "99"}, RESUMED
    ),
    "other documents to resume with": Refused(
        FEBRUARY, f"{OTHERS}.*add --add_documents", FEBRUARY, RESUMED, ADDED
    ),
    "fewer documents to resume with": Refused(
        JANUARY[:9], f"{OTHERS}.*give the same input", JANUARY, RESUMED, RESUMED
    ),
    "other documents of times that were learned are added": Refused(
        month(0, "other"),
        "are older than the last window.*Give documents that came after",
        FEBRUARY,
        ADDED,
        ADDED,
    ),
    "a learner that is too large": Refused(
        FEBRUARY,
        "above --max_state_mb .0.001.. Raise it, or",
        FEBRUARY,
        {**ADDED, "max_state_mb": 0.001},
        ADDED,
    ),
}


def rolled_back(root, told):
    """Follow the command of the message."""
    found = re.search(r"versions rollback --model_store=(\S+) --model_version=(\S+),", told)
    assert found[1] == str(root)
    store = ModelStore(found[1])
    store.roll_back(store.manifest("", found[2]))


@pytest.mark.parametrize("islands", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_a_refused_run_leaves_the_store_as_it_was_and_its_advice_works(tmp_path, name, islands):
    case, root = CASES[name], tmp_path / "m"
    learn(root, JANUARY, islands)
    before = tree(root)
    with pytest.raises(BeamTopicsError, match=case.told) as error:
        learn(root, case.documents, islands, **case.given)
    assert tree(root) == before
    if "rollback" in case.told:
        rolled_back(root, str(error.value))
    where = tmp_path / "other" if case.elsewhere else root
    learn(where, case.advised, islands, **case.then)
    if case.advised[-1] != MARCH[-1]:
        learn(where, MARCH, islands, **ADDED)
    reads = {one.ids[0]: one for one in (*JANUARY, *case.advised, *MARCH)}
    assert ModelStore(str(where)).latest("").documents == len(reads)
    # It is the history of a run that was never refused.
    if case.advised == FEBRUARY:
        straight = tmp_path / "straight"
        learn(straight, JANUARY, islands)
        learn(straight, FEBRUARY, islands, **case.then)
        learn(straight, MARCH, islands, **ADDED)
        assert ModelStore(str(straight)).latest("") == ModelStore(str(where)).latest("")


@pytest.mark.parametrize("islands", [1, 2])
def test_what_was_learned_is_known_and_its_last_window_goes_on(tmp_path, islands):
    # The input ends within a window.
    learn(tmp_path / "m", JANUARY[:14], islands)
    for given in (JANUARY[:17], JANUARY[:17], [*JANUARY, *FEBRUARY]):
        learn(tmp_path / "m", given, islands, **ADDED)
        learned = ModelStore(str(tmp_path / "m")).latest("").documents
        assert learned == len(given)
    ends = [one.window_end for one in ModelStore(str(tmp_path / "m")).checkpoints("")]
    assert ends == sorted(ends)


def test_what_a_rollback_gave_up_is_learned_again(tmp_path):
    learn(tmp_path / "m", JANUARY)
    store = ModelStore(str(tmp_path / "m"))
    before = store.latest("")
    for _ in range(2):
        learn(tmp_path / "m", [*JANUARY, *FEBRUARY], **ADDED)
        assert store.latest("").documents == 60
        store.roll_back(before)


@pytest.mark.parametrize("islands", [1, 2])
def test_the_same_run_again_leaves_the_store_as_it_was(tmp_path, islands):
    learn(tmp_path / "m", JANUARY, islands)
    before = tree(tmp_path / "m")
    learn(tmp_path / "m", JANUARY, islands)
    learn(tmp_path / "m", JANUARY, islands, **RESUMED)
    assert tree(tmp_path / "m") == before


def of_no_words():
    return [one.tokens_where(np.zeros(len(one.tokens), bool)) for one in JANUARY]


@pytest.mark.parametrize(
    ("documents", "run"),
    [
        (JANUARY, {"max_state_mb": 0.001}),
        ([], {}),
        (of_no_words(), {}),
    ],
    ids=["a large learner", "no document", "no word"],
)
def test_what_learns_nothing_makes_no_store(tmp_path, documents, run):
    root = tmp_path / "m"
    with suppress(BeamTopicsError):
        assert learn(root, documents, **run) == []
    assert tree(root) == {} and not root.exists()
    # Other settings are free.
    learn(root, JANUARY, settings={"alpha": 0.3})
    assert ModelStore(str(root)).latest("").documents == 30


def unreadable():
    yield from JANUARY[:20]
    raise DamagedDataError("the file is damaged")


def test_an_input_that_cannot_be_read_to_its_end_makes_no_store(tmp_path):
    with pytest.raises(DamagedDataError):
        learn(tmp_path / "m", unreadable())
    assert not (tmp_path / "m").exists()


def test_a_full_disk_leaves_no_part_of_a_file(tmp_path, monkeypatch):
    root = tmp_path / "m"
    learn(root, JANUARY)
    before = tree(root)

    def full(number, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OutputError, match="No space left on device"):
            learn(root, FEBRUARY, **ADDED)
    assert tree(root) == before
    learn(root, FEBRUARY, **ADDED)


@pytest.mark.parametrize("islands", [1, 2])
def test_a_damaged_checkpoint_is_left_as_it_is(tmp_path, islands):
    root = tmp_path / "m"
    learn(root, JANUARY, islands)
    path = sorted((root / "_" / "checkpoints").iterdir())[-1]
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    before = tree(root)
    with pytest.raises(DamagedDataError, match=f"{path.name} is damaged.*restore it from a copy"):
        learn(root, FEBRUARY, islands, **ADDED)
    assert tree(root) == before


class TestInterrupted:
    """A run that ended before its first version leaves checkpoints, and binds nothing."""

    @pytest.fixture
    def root(self, tmp_path):
        root, options = tmp_path / "m", {"publish_every": ("windows", 99)}
        fake_learner.FAILURES.at = [8]
        with pytest.raises(fake_learner.StepFailed):
            learn(root, JANUARY, **options)
        assert ModelStore(str(root)).checkpoints("") and not ModelStore(str(root)).has_versions("")
        return root

    def test_it_is_finished(self, root, tmp_path):
        options = {"publish_every": ("windows", 99)}
        learn(root, JANUARY, **RESUMED, **options)
        learn(tmp_path / "straight", JANUARY, **options)
        straight = ModelStore(str(tmp_path / "straight")).latest("")
        assert ModelStore(str(root)).latest("") == straight

    def test_other_settings_begin_anew_and_its_checkpoints_go(self, root):
        learn(root, FEBRUARY, settings={"alpha": 0.3})
        store = ModelStore(str(root))
        digests = {entry.settings_digest for entry in store.checkpoints("")}
        assert len(digests) == 1 and store.latest("").documents == 30
        learn(root, MARCH, settings={"alpha": 0.3}, **ADDED)
        assert store.latest("").documents == 60

    def test_other_settings_do_not_resume(self, root):
        before = tree(root)
        with pytest.raises(BeamTopicsError, match="with these settings .the newest: none"):
            learn(root, JANUARY, settings={"alpha": 0.3}, **RESUMED)
        assert tree(root) == before

    def test_other_documents_do_not_resume(self, root):
        before = tree(root)
        with pytest.raises(BeamTopicsError, match="came again with other documents"):
            learn(root, FEBRUARY, **RESUMED)
        with pytest.raises(BeamTopicsError, match="the input ends after minibatch 3 of 5") as error:
            learn(root, JANUARY[:9], **RESUMED)
        assert "give the whole input of that run again" in str(error.value)
        assert tree(root) == before


def test_a_foreign_checkpoint_of_an_older_release_is_passed_over(tmp_path):
    """Releases up to 0.2.0 left it when they refused a month of as many windows."""
    root = tmp_path / "m"
    learn(tmp_path / "foreign", FEBRUARY)
    learn(root, JANUARY)
    (foreign,) = [
        path
        for path in (tmp_path / "foreign" / "_" / "checkpoints").iterdir()
        if path.name.startswith("000000000010")
    ]
    (root / "_" / "checkpoints" / foreign.name).write_bytes(foreign.read_bytes())
    learn(root, FEBRUARY, **ADDED)
    assert ModelStore(str(root)).latest("").documents == 60
