"""Dataflow's job graph of every pipeline, built without a network.

Workers and updates of a job depend on what it contains.
"""

import dataflow_jobs
import pytest
from apache_beam.internal import pickler
from apache_beam.portability.api import beam_runner_api_pb2 as api
from dataflow_jobs import GRAPHS, coders_within, job_of, pardos, pickles, unpacked
from fake_gcs import FakeGcs

from beam_topics.model.publishing import gcs

pytest.importorskip(
    "apache_beam.runners.dataflow.internal.apiclient",
    exc_type=ImportError,
    reason="needs apache-beam[gcp]; make test-runners has it",
)

# The others differ from these in options; they are looked at with the slow tests.
QUICK = ("train, islands", "stream, replay", "infer, keys", "archive", "evaluate")
JOBS = [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in GRAPHS]
STANDARD = {
    f"beam:coder:{name}:v1"
    for name in (
        "bytes",
        "kv",
        "string_utf8",
        "varint",
        "timer",
        "global_window",
        "bool",
        "length_prefix",
    )
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("dataflow")
    with FakeGcs("bucket") as server, pytest.MonkeyPatch.context() as patched:
        patched.setenv("STORAGE_EMULATOR_HOST", server.address)
        gcs._client.cache_clear()
        dataflow_jobs.prepare(path)
        yield path
    gcs._client.cache_clear()


@pytest.fixture(scope="module", params=JOBS)
def job(request, folder):
    return job_of(request.param, folder)


def stateful(job):
    return [
        (name, transform, payload)
        for name, transform, payload in pardos(job)
        if payload.state_specs or payload.timer_family_specs
    ]


def coders_of(job, transform, payload):
    """Every coder that a stateful step's input, outputs, state and timers go through."""
    yield from (
        job.components.pcollections[name].coder_id
        for name in [*transform.inputs.values(), *transform.outputs.values()]
    )
    yield from (spec.timer_family_coder_id for spec in payload.timer_family_specs.values())
    for spec in payload.state_specs.values():
        yield spec.read_modify_write_spec.coder_id or spec.bag_spec.element_coder_id


def test_stateful_steps_and_their_neighbours_have_standard_coders_only(job):
    for name, transform, payload in stateful(job):
        for coder in coders_of(job, transform, payload):
            assert coders_within(job, coder) <= STANDARD, name


def test_the_names_that_an_update_goes_by(job):
    """An update finds stateful steps by name, so a change of a name is a change for users."""
    names = {name for name, _, _ in stateful(job)}
    learn = {
        "Sequence/Order/ParDo(SequenceDoFn)",
        "Learn/Learn",
        "Publish/Publish/ParDo(PublishDoFn)",
    }
    assert names <= {*learn, "Label/Label/ParDo(LabelDoFn)", "Coverage/Report", "Trends/Add up"}
    states = {state for _, _, payload in stateful(job) for state in payload.state_specs}
    assert states <= {"head", "pending", "log", "gap", "waiting"}


def test_no_real_time_timers(job):
    for name, _, payload in stateful(job):
        for spec in payload.timer_family_specs.values():
            assert spec.time_domain == api.TimeDomain.EVENT_TIME, name


def test_nothing_of_the_started_module_is_pickled(job):
    found = list(pickles(job))
    assert len(found) > 5
    for name, data in found:
        assert b"__main__" not in unpacked(data), name
        pickler.loads(data)


def test_every_learning_graph_was_looked_at(folder):
    counts = {name: len(stateful(job_of(name, folder))) for name in QUICK}
    assert counts == {
        "train, islands": 3,
        "stream, replay": 5,
        "infer, keys": 1,
        "archive": 0,
        "evaluate": 0,
    }
