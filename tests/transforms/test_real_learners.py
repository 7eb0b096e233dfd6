"""The registered learners in the pipeline: what the fake learner shows holds for their bits."""

import pytest
from fake_learner import FAILURES
from learner_options import REAL_LEARNERS, made
from streams import documents, final_states, learn_options, links_of, shuffled, train
from without_beam import run_without_beam

from beam_topics.model.learner_log.head import LIVE_LEARNERS
from beam_topics.model.learners import LEARNER
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.settings.compositions import placements

ITEMS = documents(60)
LINKS = links_of(ITEMS)
WITH_ISLANDS = {place.path[0][1] for place in placements(LEARNER) if place.option.name == "islands"}
ONLINE = [name for name in REAL_LEARNERS if name != "batch-gibbs"]


@pytest.fixture(autouse=True)
def nothing_left_over():
    FAILURES.at = []
    LIVE_LEARNERS.clear()


def settings_of(name, **others):
    small = {
        "topics": 3,
        "particles": 4,
        "initial_documents": 12,
        "chains": 2,
        "initial_sweeps": 3,
        "max_words": 50,
        "sweeps": 3,
    }
    return made({**small, "reservoir": 5, "moves": 4}, learner=name, **others)


def expected(settings):
    found = [run_without_beam(LINKS, settings, "", island) for island in range(settings.islands)]
    return [(one.sequence, one.fingerprint, one.witness, one.state_digest) for one in found]


@pytest.mark.parametrize("name", REAL_LEARNERS)
def test_the_pipeline_equals_the_learner_without_beam(tmp_path, name):
    settings = settings_of(name)
    train(
        shuffled(ITEMS, name),
        learn_options(tmp_path, settings, checkpoint_tokens=50, publish_every=("windows", 4)),
    )
    assert final_states(tmp_path) == expected(settings)
    assert ModelStore(str(tmp_path)).latest("").sequence == len(LINKS)


@pytest.mark.parametrize("name", ONLINE)
def test_every_bundle_run_twice_and_restored_from_the_log(tmp_path, name):
    several = {"islands": 2} if name in WITH_ISLANDS else {}
    settings = settings_of(name, **several)
    options = learn_options(
        tmp_path, settings, checkpoint_tokens=50, publish_every=("windows", 4), threads=2
    )
    train(ITEMS, options, "--direct_runner_bundle_repeat=2")
    assert final_states(tmp_path, islands=settings.islands) == expected(settings)


@pytest.mark.parametrize("name", ONLINE[:1])
def test_two_worker_processes(tmp_path, name, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "tests:.")
    settings = settings_of(name)
    options = learn_options(tmp_path, settings, checkpoint_tokens=50)
    train(
        shuffled(ITEMS, "p"),
        options,
        "--direct_num_workers=2",
        "--direct_running_mode=multi_processing",
    )
    assert final_states(tmp_path) == expected(settings)


@pytest.mark.parametrize("name", ONLINE)
def test_resuming_from_every_checkpoint(tmp_path, name):
    settings = settings_of(name)
    train(ITEMS, learn_options(tmp_path, settings, checkpoint_tokens=50))
    store = ModelStore(str(tmp_path))
    versions = [manifest.to_json() for manifest in store.manifests("")]
    for entry in store.checkpoints("")[:3]:
        LIVE_LEARNERS.clear()
        train(
            ITEMS,
            learn_options(
                tmp_path, settings, checkpoint_tokens=50, resume_from=str(entry.sequence)
            ),
        )
        assert final_states(tmp_path) == expected(settings)
        assert [manifest.to_json() for manifest in store.manifests("")] == versions
