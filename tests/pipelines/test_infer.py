"""What labelling refuses before it runs."""

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from made import manifest_of, snapshot_of

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.store import Binding, ModelStore
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines import infer
from beam_topics.pipelines.cli.command import parse
from beam_topics.pipelines.graphs import infer as graph

KAFKA = ["--source=kafka", "--kafka_servers=b:9", "--kafka_topic=posts"]


def options_of(tmp_path, *flags):
    """With a store of two models, which cut words differently."""
    store = ModelStore(str(tmp_path))
    for key, length in (("en", 2), ("de", 3)):
        snapshot = store.put_snapshot(snapshot_of([[1.0], [2.0]], key=key))
        settings = {"tokeniser": TokeniserSettings(min_length=length).to_json(), "learner": {}}
        store.publish(manifest_of(3, key=key, snapshot=snapshot, settings=settings))
    # No runner of ours is asked: the local one refuses streams without an end.
    given = [
        f"--model_store={tmp_path}",
        "--dead_letters=d",
        "--output=m",
        "--runner=PrismRunner",
        *flags,
    ]
    return parse(given, "infer", "", infer.GROUPS, {})


def test_models_that_cut_words_differently_are_not_used_together(tmp_path):
    with pytest.raises(OptionError) as error:
        graph.chosen_models(options_of(tmp_path, "--input=a", "--key_field=language"))
    said = (
        "--key_field: ['de', 'en'] was given; allowed is keys whose models have one tokeniser."
        " Label one at a time, with --model_key."
    )
    assert str(error.value) == said
    assert list(
        graph.chosen_models(
            options_of(tmp_path / "one", "--input=a", "--key_field=language", "--model_key=en")
        )
    ) == ["en"]


@pytest.mark.parametrize("method", ["gibbs1", "gibbs2", "gibbs2-s"])
def test_a_stream_without_an_end_is_not_taken_together(tmp_path, method):
    options = options_of(tmp_path, *KAFKA, "--model_key=en", f"--method={method}")
    with pytest.raises(OptionError) as error:
        graph.build(beam.Pipeline(options=PipelineOptions([])), options)
    said = (
        f"--method: '{method}' was given; allowed is a method for one document at a time with"
        " --source=kafka. Use gibbs3."
    )
    assert str(error.value) == said


def test_keys_without_a_version_yet_are_left_out(tmp_path):
    ModelStore(str(tmp_path / "one")).bind("fr", Binding("d", {}))
    with pytest.raises(OptionError) as error:
        graph.chosen_models(
            parse(
                [f"--model_store={tmp_path / 'one'}", "--dead_letters=d", "--key_field=k"],
                "x",
                "",
                infer.GROUPS,
                {},
            )
        )
    said = (
        f"--model_store: '{tmp_path / 'one'}' was given; allowed is a store in which some key has a"
        " model. Train one first."
    )
    assert str(error.value) == said
    options = options_of(tmp_path / "one", "--input=a", "--key_field=language")
    ModelStore(str(tmp_path / "one")).bind("fr", Binding("d", {}))
    with pytest.raises(OptionError, match=r"--key_field: \['de', 'en'\] was given"):
        graph.chosen_models(options)
