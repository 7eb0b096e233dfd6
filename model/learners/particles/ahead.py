"""Compile large kernels ahead, in a process beside the one that learns.

    python -m beam_topics.model.learners.particles.ahead

The first minibatch of a learner on a new machine waits for its kernels, which are compiled one
after another when they are first called, for more than a minute. numba holds the interpreter's lock
while it compiles, so only another process can share the work. This one begins with what the first
process needs last. It builds the arguments of a kernel as the learner does, compiles the kernel for
their types and does not call it. The first process then finds the compiled code in the folder of
:mod:`beam_topics.model.kernels.jit`. Where it comes to a kernel earlier, it compiles the kernel,
too, and nothing is lost but time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np

from beam_topics.model.kernels.jit import FOLDER
from beam_topics.model.kernels.random import MOVE, RESTART
from beam_topics.model.learners import ParticleFilter
from beam_topics.model.learners.base import LearnerSettings
from beam_topics.model.learners.particles import stepping
from beam_topics.model.learners.particles.history import WHOLE_DOCUMENT
from beam_topics.model.learners.particles.kernels.restarting import put_back, take_out
from beam_topics.model.learners.particles.population import new_population
from beam_topics.model.learners.particles.settings import ParticleSettings
from beam_topics.model.learners.particles.state import draws, new_state


@contextmanager
def compiling_ahead(settings: LearnerSettings) -> Iterator[None]:
    """Run the other process in the block, if a learner needs it and there is a core for it."""
    compiled = any(Path(FOLDER).rglob("*.move_units-*.nbi"))
    alone = len(os.sched_getaffinity(0)) == 1
    if compiled or alone or not isinstance(settings, ParticleSettings):
        yield
        return
    # It finds this project where this process does. A folder of the user's may be called "model".
    command, nowhere = [sys.executable, "-P", "-m", __name__], subprocess.DEVNULL
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    process = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, env=places)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def compile_ahead() -> None:
    """Compile the kernels of visits, of chains and of challengers for the default learner."""
    state = new_state(ParticleFilter(), "", 0, threads=1)
    document = np.zeros(2, np.int32), None
    slots = state.history.begin_all([document])
    state.population = new_population(state.prior, 1, 1)
    vars(stepping)["over_slices"] = _compile_slice
    stepping.visit(state, slots, np.full(1, WHOLE_DOCUMENT, np.int64), MOVE)
    restarted = state.population, state.prior, state.history.pages, slots
    _compile(take_out, *restarted, draws(state, RESTART))
    _compile(put_back, *restarted, np.zeros(1, np.int64), draws(state, RESTART))
    stepping.learn_by_chains(state, [document])


def _compile_slice(particles: int, threads: int, run: partial[Any], **_: bool) -> None:
    """Compile a kernel in place of calling it for a slice of the particles."""
    _compile(run.func, *run.args, 0, particles, 0)


def _compile(kernel: Any, *arguments: Any) -> None:
    kernel.compile(tuple(map(numba.typeof, arguments)))


if __name__ == "__main__":
    compile_ahead()
