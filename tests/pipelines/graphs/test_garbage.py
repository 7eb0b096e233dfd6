import gc
import subprocess
import sys
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.metrics import Metrics
from given import given_by

from beam_topics.model.errors import BeamTopicsError
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.options import StoreOptions
from beam_topics.pipelines.graphs.execute import run
from beam_topics.pipelines.graphs.memory import collect_now, collected_later

ROOT = Path(__file__).parents[3]
# What is registered first runs last.
AT_EXIT = """
import atexit, gc, importlib, sys
atexit.register(lambda: print(gc.get_freeze_count()))
_, module, by, *argv = sys.argv
main = importlib.import_module(module).main
sys.argv = [module, *argv]
try:
    main() if by == "itself" else main(argv)
except SystemExit:
    pass
print(gc.get_freeze_count())
"""


@pytest.fixture(autouse=True)
def collector():
    """The collector as it is in a program that calls another."""
    assert gc.isenabled() and not gc.get_freeze_count()
    yield
    gc.enable()
    gc.unfreeze()


def seen():
    return gc.isenabled(), gc.get_freeze_count() > 0


def test_nothing_is_collected_until_the_program_has_started():
    with collected_later():
        began = seen()
        collect_now()
        goes_on = seen()
    assert (began, goes_on, seen()) == ((False, False), (True, True), (True, False))


def test_nothing_stays_changed_after_an_error():
    with pytest.raises(ZeroDivisionError), collected_later():
        collect_now()
        1 / 0  # noqa: B018
    assert seen() == (True, False)


def test_a_collector_that_the_caller_turned_off_stays_off():
    gc.disable()
    with collected_later():
        collect_now()
        assert seen() == (False, False)
    assert seen() == (False, False)


def test_outside_of_a_block_nothing_is_set_aside():
    collect_now()
    assert seen() == (True, False)


class Look(beam.DoFn):
    """Counts whether garbage is collected while a bundle is processed."""

    def process(self, element):
        Metrics.counter("beam_topics", "collects").inc(int(gc.isenabled()))
        Metrics.counter("beam_topics", "looked").inc()


def test_a_graph_is_built_without_collections_and_runs_with_them():
    built, counted = [], {}

    def build(pipeline, options):
        built.append(gc.isenabled())
        return pipeline | beam.Create([b"a", b"b"]) | beam.ParDo(Look()).with_output_types(bytes)

    with collected_later():
        run(build, given_by("--runner=FnApiRunner"), counted.update)
    assert built == [False]
    assert counted == {"collects": 2, "looked": 2}


@pytest.mark.parametrize("graph", [True, False])
def test_a_program_without_a_graph_collects_when_it_runs(graph):
    found = []

    def look(options):
        found.append(seen())
        raise BeamTopicsError("it ends")

    main = command("x", "What.", [StoreOptions], {}, look, graph=graph)
    assert main(["--model_store=m"]) == 2
    assert found == [(not graph, not graph)]
    assert seen() == (True, False)


@pytest.mark.parametrize("by", ["itself", "another"])
@pytest.mark.parametrize(
    "program", [["beam_topics.pipelines.show"], ["beam_topics.pipelines.__main__", "show"]]
)
def test_nothing_is_collected_at_the_end_of_a_process_that_is_a_program(by, program):
    module, *argv = program
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT, module, by, *argv, "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    after_main, at_exit = map(int, done.stdout.split()[-2:])
    assert after_main == 0
    assert (at_exit > 0) == (by == "itself")
