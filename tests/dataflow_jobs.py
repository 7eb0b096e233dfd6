"""The Dataflow job of every pipeline as it would be submitted.

A dry run builds it without a network and without an account.
"""

import base64
import bz2
import functools
import json
import runpy
import sys
import warnings
import zlib
from contextlib import suppress
from unittest.mock import patch

from apache_beam.portability import python_urns
from apache_beam.portability.api import beam_runner_api_pb2 as api
from apache_beam.runners.dataflow.dataflow_runner import DataflowRunner
from apache_beam.runners.portability.stager import Stager
from made import manifest_of, random_snapshot

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learners import Gibbs
from beam_topics.model.publishing.manifest import CheckpointEntry
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines import archive, evaluate, fit_classifier, infer, stream, train

DATAFLOW = [
    "--runner=DataflowRunner",
    "--dry_run=True",
    "--project=my-project",
    "--region=europe-west1",
    "--temp_location=gs://bucket/tmp",
]
IMAGE = "--sdk_container_image=registry/beam-topics:1"
_FILES, _ARCHIVE = "--input={folder}/corpus.jsonl", "--input={folder}/archive/*.avro"
_DEAD, _STORE, _NEW = (
    "--dead_letters=gs://bucket/dead",
    "--model_store=gs://bucket/models",
    "--model_store=gs://bucket/new",
)
_RESUMED = ["--model_store=gs://bucket/resumed", "--key_field=label", "--add_documents"]
_OUTPUT = "--output=gs://bucket/mixtures"
_REPLAYED = ["--source=replay", _ARCHIVE, "--streaming"]
GRAPHS = {
    "archive": (archive, [_FILES, "--output=gs://bucket/archive", _DEAD]),
    "train": (train, [_FILES, _NEW, _DEAD]),
    "train, islands": (
        train,
        [
            _FILES,
            _NEW,
            _DEAD,
            "--learner=particle-filter",
            "--islands=4",
            "--particles=8",
            "--initial_documents=9",
            "--key_field=label",
        ],
    ),
    "train, resumed": (train, [_FILES, _DEAD, *_RESUMED]),
    "train, replay": (train, [*_REPLAYED, _NEW, _DEAD]),
    "stream": (stream, [_FILES, _NEW, _OUTPUT, _DEAD]),
    "stream, replay": (stream, [*_REPLAYED, _NEW, _OUTPUT, _DEAD, "--label_with=latest"]),
    "infer": (infer, [_FILES, _STORE, _OUTPUT, _DEAD]),
    "infer, keys": (
        infer,
        [_FILES, _STORE, _OUTPUT, _DEAD, "--key_field=label", "--output_format=avro"],
    ),
    "infer, trends": (
        infer,
        [
            _FILES,
            _STORE,
            _OUTPUT,
            _DEAD,
            "--trends=gs://bucket/trends",
        ],
    ),
    "infer, together": (
        infer,
        [_FILES, _STORE, _OUTPUT, _DEAD, "--method=gibbs2", "--coverage=gs://bucket/coverage"],
    ),
    "fit_classifier": (fit_classifier, [_FILES, _STORE, _DEAD, "--sample=5"]),
    "evaluate": (
        evaluate,
        ["--held_out={folder}/corpus.jsonl", _STORE, _DEAD, "--json=gs://bucket/figures.jsonl"],
    ),
}


class Built(Exception):
    """The job is there; what a pipeline does after its run has nothing to do here."""


def prepare(folder):
    """What the graphs look at while they are built: files here, and a model in the bucket."""
    rows = [
        {"id": str(n), "timestamp": n * 40_000, "text": "a ship sailed", "label": "x"}
        for n in range(9)
    ]
    (folder / "corpus.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    archived = [
        f"--input={folder}/corpus.jsonl",
        f"--output={folder}/archive",
        f"--dead_letters={folder}/dead",
    ]
    assert archive.main(archived) == 0
    learning = LearnOptions(Gibbs(), TokeniserSettings(), SequenceSettings(), "")
    store = ModelStore("gs://bucket/models")
    for key in ("", "x"):
        digest = store.put_snapshot(random_snapshot(key=key))
        store.publish(manifest_of(3, key=key, snapshot=digest, settings=learning.bound_settings))
    resumed = ModelStore("gs://bucket/resumed")
    digest = resumed.put_snapshot(random_snapshot(key="x"))
    resumed.publish(manifest_of(3, key="x", snapshot=digest, settings=learning.bound_settings))
    resumed.put_checkpoint(
        CheckpointEntry("x", 0, 3, "c3", 30, 3, learning.settings_digest), b"state"
    )


@functools.cache
def job_of(name, folder, *flags):
    """The pipeline proto of a graph's job, built by its command line as ``__main__``."""
    module, argv = GRAPHS[name]
    given = [flag.format(folder=folder) for flag in argv]
    run = DataflowRunner.run_pipeline

    def recorded(runner, pipeline, options):
        raise Built(run(runner, pipeline, options).job.proto_pipeline)

    command = [module.__name__, *given, *DATAFLOW, *(flags or [IMAGE])]
    # A list of what is installed here is sent along for support; making it takes seconds.
    unlisted = patch.object(Stager, "_create_stage_submission_env_dependencies", return_value=[])
    with (
        patch.object(DataflowRunner, "run_pipeline", recorded),
        patch.object(sys, "argv", command),
        unlisted,
        warnings.catch_warnings(),
    ):
        # It is imported already, and that is as it should be: workers import it too.
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            runpy.run_module(module.__name__, run_name="__main__", alter_sys=True)
        except Built as built:
            return built.args[0]


def pardos(job):
    """(name, transform, payload) of every ParDo."""
    for transform in job.components.transforms.values():
        if transform.spec.urn.startswith(("beam:transform:pardo", "beam:transform:sdf")):
            yield (
                transform.unique_name,
                transform,
                api.ParDoPayload.FromString(transform.spec.payload),
            )


def coders_within(job, coder):
    """The URNs of a coder and all that it is made of."""
    held = job.components.coders[coder]
    return {held.spec.urn}.union(*(coders_within(job, inner) for inner in held.component_coder_ids))


def pickles(job):
    """Every pickle that workers would load for a step: (where, bytes as they are sent)."""
    for name, _, payload in pardos(job):
        yield name, payload.do_fn.payload
    for name, transform in job.components.transforms.items():
        if transform.spec.urn == "beam:transform:window_into:v1":
            window_fn = api.WindowIntoPayload.FromString(transform.spec.payload).window_fn
            if window_fn.urn == python_urns.PICKLED_WINDOWFN:
                yield name, window_fn.payload
    for name, strategy in job.components.windowing_strategies.items():
        if strategy.window_fn.urn == python_urns.PICKLED_WINDOWFN:
            yield name, strategy.window_fn.payload


def unpacked(pickle):
    """A pickle's own bytes: it is sent compressed, in letters."""
    data = base64.b64decode(pickle)
    for unpack in (bz2.decompress, zlib.decompress):
        with suppress(OSError, zlib.error):
            return unpack(data)
    return data
