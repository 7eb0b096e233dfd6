import threading

import pytest

from beam_topics.model.kernels.threads import over_slices


@pytest.mark.parametrize(
    ("particles", "threads", "slices"), [(5, 1, [(0, 5, 0)]), (5, 2, [(0, 2, 0), (2, 5, 1)])]
)
def test_every_particle_is_in_one_slice(particles, threads, slices):
    found = []
    over_slices(
        particles,
        threads,
        lambda *arguments: found.append((arguments, threading.current_thread())),
    )
    assert sorted(arguments for arguments, _ in found) == slices
    here = [thread is threading.current_thread() for _, thread in found]
    assert all(here) if threads == 1 else not any(here)
