"""What the parts that several graphs share refuse."""

import pytest
from apache_beam.options.pipeline_options import PipelineOptions

from model.errors import LostMinibatchesError, OptionError
from model.publishing.manifest import CheckpointEntry
from model.publishing.store import ModelStore
from pipelines.graphs import check_learned, check_store, learn_options_of


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
    check_learned(counted, PipelineOptions(["--islands=2"]))


def test_a_job_that_ends_before_all_was_learned_fails():
    with pytest.raises(LostMinibatchesError, match=r"of 222 minibatches .* only 2 were learned.*--resume_from=latest"):
        check_learned({"minibatches": 111, "learned_minibatches": 2, "gaps": 109}, PipelineOptions(["--islands=2"]))


@pytest.mark.parametrize("start", [[], ["--resume_from="]])
def test_a_source_that_goes_on_needs_the_checkpoint_from_which(start):
    with pytest.raises(OptionError) as error:
        learn_options_of(PipelineOptions(["--model_store=m", "--resume_source=onward", *start]))
    said = "--resume_source: 'onward' was given; allowed is again without --resume_from. Add --resume_from=latest, or leave this out."
    assert str(error.value) == said


def test_a_source_that_goes_on_from_a_checkpoint():
    made = learn_options_of(PipelineOptions(["--model_store=m", "--resume_source=onward", "--resume_from=latest"]))
    assert made.resume_from == "latest"
    assert learn_options_of(PipelineOptions(["--model_store=m", "--resume_source=again"])).resume_from == ""


def test_a_store_of_keys_in_which_nothing_can_be_resumed(tmp_path):
    flags = [f"--model_store={tmp_path}", "--key_field=k", "--resume_from=latest"]
    options = PipelineOptions(flags)
    said = f"--resume_from: 'latest' was given; allowed is nothing with {tmp_path}, where no key has a checkpoint. Correct --model_store"
    with pytest.raises(OptionError) as error:
        check_store(options, learn_options_of(options))
    assert said in str(error.value)
    ModelStore(str(tmp_path)).put_checkpoint(CheckpointEntry("a", 0, 3, "c", 1, 0, "s"), b"state")
    check_store(options, learn_options_of(options))
