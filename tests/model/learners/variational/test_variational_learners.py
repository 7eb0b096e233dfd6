"""The variational learners, beside the laws of every learner (``learner_battery.py``)."""

import pytest
from corpora import awkward
from learner_battery import evidence_is_of_the_last_minibatches, plain
from learner_variants import VARIANTS, VARIATIONAL, settings_of, small

from beam_topics.model.errors import DamagedDataError
from beam_topics.model.learners import learner_for, states


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("name", ["fixvoc-vb", "infvoc"])
def test_evidence_is_that_of_the_last_minibatches(name, window, monkeypatch):
    # These learners have no islands, so their window is not an option.
    monkeypatch.setattr(states, "EVIDENCE_WINDOW", window)
    evidence_is_of_the_last_minibatches(settings_of(name), window)


@pytest.mark.parametrize("name", ["fixvoc-vb", "infvoc"])
def test_a_variational_state_of_other_settings_is_refused(name):
    settings = small(learner=name, kappa=0.7)
    with pytest.raises(DamagedDataError, match="settings"):
        learner_for(settings).load(settings, "", 0, plain(settings_of(name))[0][-1])


@pytest.mark.parametrize("variant", VARIATIONAL)
def test_a_variational_learner_is_bounded(variant):
    settings = settings_of(variant)
    learner, state = learner_for(settings), plain(settings)[3]
    words = {word for document in awkward() for word in document.words}
    assert 0 < learner.nbytes(state) < 200_000
    assert learner.summary(state).words <= max(len(words), 20)
    if VARIANTS[variant].get("truncation") == 5 or "few words" in variant:
        assert learner.summary(state).words < len(words) / 2
