import hashlib
import pickle

from model.learner_log.options import LearnOptions
from model.learners import Given, ParticleFilter
from model.settings import SequenceSettings, TokeniserSettings


def options(**learner):
    return LearnOptions(ParticleFilter(**learner), TokeniserSettings(), SequenceSettings(), "store")


def test_a_manifest_names_long_lists():
    listed = options(vocabulary=Given(("ship", "sea")), topics=3)
    assert listed.settings_dict()["learner"]["vocabulary"]["words"] == ["ship", "sea"]
    named = listed.manifest_settings()["learner"]
    assert named["vocabulary"]["words"] == {
        "words": 2,
        "sha256": hashlib.sha256(b'["ship","sea"]').hexdigest(),
    }
    assert named["topics"] == 3 and named["prior"]["word_list"] == []


def test_without_lists_nothing_is_changed():
    assert options().manifest_settings() == options().settings_dict()


def test_a_pickled_step_carries_the_fields_and_nothing_that_was_derived_from_them():
    given, used = options(), options()
    used.settings_flags(), used.settings_digest(), used.manifest_settings()
    data = pickle.dumps(used)
    assert data == pickle.dumps(given)
    loaded = pickle.loads(data)
    assert loaded == given
    assert loaded.settings_digest() == used.settings_digest()
