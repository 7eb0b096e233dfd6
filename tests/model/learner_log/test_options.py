import hashlib
import pickle

import pytest

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError
from beam_topics.model.learner_log.options import MOST_THREADS, LearnOptions, RunSettings
from beam_topics.model.learners import FixvocVb, Gibbs, Given
from beam_topics.model.words.settings import TokeniserSettings


def options(**learner):
    return LearnOptions(Gibbs(**learner), TokeniserSettings(), SequenceSettings(), "store")


def test_a_manifest_names_long_lists():
    listed = options(vocabulary=Given(("ship", "sea")), topics=3)
    assert listed.bound_settings["learner"]["vocabulary"]["words"] == ["ship", "sea"]
    named = listed.manifest_settings["learner"]
    assert named["vocabulary"]["words"] == {
        "words": 2,
        "sha256": hashlib.sha256(b'["ship","sea"]').hexdigest(),
    }
    assert named["topics"] == 3


def test_without_lists_nothing_is_changed():
    assert options().manifest_settings == options().bound_settings


def test_a_pickled_step_carries_the_fields_and_nothing_that_was_derived_from_them():
    given, used = options(), options()
    assert used.binding and used.settings_digest and used.manifest_settings
    data = pickle.dumps(used)
    assert data == pickle.dumps(given)
    loaded = pickle.loads(data)
    assert loaded == given
    assert loaded.settings_digest == used.settings_digest


@pytest.mark.parametrize(
    ("settings", "least"),
    [
        # Counts of all words: 8 bytes x T x words.
        (FixvocVb(topics=6000), "2,289"),
    ],
)
def test_what_cannot_fit_is_refused_before_the_first_record(settings, least):
    with pytest.raises(OptionError) as error:
        LearnOptions(settings, TokeniserSettings(), SequenceSettings(), "store")
    assert str(error.value) == (
        f"--topics: {settings.topics} was given; allowed is a number whose learner fits into"
        f" --max_state_mb (2048 MB). It needs at least {least} MB. Give fewer topics, fewer words"
        " (--max_words), or a larger --max_state_mb."
    )
    run = RunSettings(max_state_mb=1e6)
    LearnOptions(settings, TokeniserSettings(), SequenceSettings(), "store", run)


def test_a_learner_has_the_threads_that_are_given_or_the_cores(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(3)), raising=False)
    assert RunSettings().learner_threads == 3
    assert RunSettings(threads=5).learner_threads == 5
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(90)), raising=False)
    assert RunSettings().learner_threads == MOST_THREADS
