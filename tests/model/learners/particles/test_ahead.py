"""What is compiled ahead is what a learner of the default settings calls."""

import subprocess
import sys

import numba
import pytest
from corpora import minibatches_of, topical

from beam_topics.model.learners import Infvoc, ParticleFilter, learner_for
from beam_topics.model.learners.particles import ahead


@pytest.fixture
def compiled(monkeypatch):
    """The kernels, with the types of their arguments."""
    found = []

    def types(kernel, *arguments):
        found.append((kernel, tuple(map(numba.typeof, arguments))))

    with monkeypatch.context() as patch:
        patch.setattr(ahead, "_compile", types)
        patch.setattr(ahead.stepping, "over_slices", ahead.stepping.over_slices)
        ahead.compile_ahead()
    return found


def test_the_kernels_are_called_with_these_types(compiled):
    learner = learner_for(ParticleFilter())
    state = learner.init(ParticleFilter(), "", 0)
    for minibatch in minibatches_of(topical(900), 30):
        learner.step(state, minibatch)
    assert len(compiled) == 4
    for kernel, types in compiled:
        assert types in kernel.signatures, kernel.py_func.__name__


class Process:
    def __init__(self, command, **given):
        assert command == [sys.executable, "-P", "-m", "beam_topics.model.learners.particles.ahead"]
        self.steps = ["started"]

    def terminate(self):
        self.steps.append("terminated")

    def wait(self):
        self.steps.append("waited")


@pytest.mark.parametrize(
    ("settings", "cores", "kernels", "runs"),
    [
        (ParticleFilter(), {0, 1}, (), True),
        (ParticleFilter(), {0}, (), False),
        (Infvoc(), {0, 1}, (), False),
        (ParticleFilter(), {0, 1}, ("rejuvenation.move_units-31.py311.nbi",), False),
    ],
)
def test_it_runs_where_a_core_is_free_and_ends_with_the_block(
    monkeypatch, tmp_path, settings, cores, kernels, runs
):
    for name in kernels:
        (tmp_path / name).touch()
    started = []
    monkeypatch.setattr(ahead, "FOLDER", str(tmp_path))
    monkeypatch.setattr(ahead.os, "sched_getaffinity", lambda _: cores)
    monkeypatch.setattr(
        subprocess, "Popen", lambda *a, **k: started.append(Process(*a, **k)) or started[0]
    )
    with pytest.raises(KeyError), ahead.compiling_ahead(settings):
        assert [one.steps for one in started] == [["started"]] * runs
        raise KeyError
    assert [one.steps for one in started] == [["started", "terminated", "waited"]] * runs
