"""What the parts that several graphs share refuse."""

import pytest
from fake_learner import fake_settings
from given import given_by
from streams import learn_options

from beam_topics.model.errors import LostMinibatchesError, OptionError
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines.cli.settings_from_options import learn_options_of
from beam_topics.pipelines.graphs.additions import check_store
from beam_topics.pipelines.graphs.learning import learn
from beam_topics.pipelines.graphs.outcomes import check_learned

ISLANDS = learn_options_of(
    given_by("--model_store=m", "--learner=o-lda", "--islands=2", "--particles=2")
)


@pytest.mark.parametrize(
    "counted",
    [
        {},
        {"minibatches": 3, "learned_minibatches": 6},
        {"minibatches": 3, "learned_minibatches": 4, "repeats": 2},
        {"minibatches": 3, "learned_minibatches": 5, "restores": 1},
    ],
)
def test_what_was_learned_known_or_counted_twice_is_not_lost(counted):
    check_learned(counted, ISLANDS)


def test_a_job_that_ends_before_all_was_learned_fails():
    with pytest.raises(
        LostMinibatchesError,
        match=r"of 222 minibatches .* only 2 were learned.*--resume_from=latest",
    ):
        check_learned({"minibatches": 111, "learned_minibatches": 2, "gaps": 109}, ISLANDS)


def test_documents_are_added_to_the_newest_checkpoint_or_to_the_one_named():
    assert learn_options_of(given_by("--model_store=m", "--add_documents")).run.start == "latest"
    assert learn_options_of(given_by("--model_store=m", "--add_documents=false")).run.start == ""
    assert (
        learn_options_of(
            given_by("--model_store=m", "--add_documents", "--resume_from=7")
        ).run.start
        == "7"
    )


def test_a_store_of_keys_in_which_nothing_can_be_resumed(tmp_path):
    flags = [f"--model_store={tmp_path}", "--key_field=k", "--resume_from=latest"]
    options = given_by(*flags)
    said = (
        f"--resume_from: 'latest' was given; allowed is nothing with {tmp_path}, where no key has a"
        " checkpoint. Correct --model_store"
    )
    with pytest.raises(OptionError) as error:
        check_store(options, learn_options_of(options))
    assert said in str(error.value)
    ModelStore(str(tmp_path)).put_checkpoint(CheckpointEntry("a", 0, 3, "c", 1, 0, "s"), b"state")
    check_store(options, learn_options_of(options))


def test_silence_is_refused_in_a_job_that_does_not_stream(tmp_path):
    learning = learn_options(tmp_path, fake_settings(), silent_after=2 * 86_400_000_000)
    with pytest.raises(
        OptionError,
        match=r"--silent_after: '2d' was given; allowed is a length of time in a job that streams",
    ):
        learn(None, learning, streams=False)
