"""A worker that its runner gave up publishes on beside the one in its place.

Both began with version 2 of an empty store. In each of twenty trials a seed decides who works next,
and what the other one does between a read of LATEST and its compare-and-set.
"""

import random

import pytest
from made import manifest_of

from beam_topics.model.errors import StoreConflictError
from beam_topics.model.publishing.store import ModelStore

SEQUENCES = (5, 9, 12)
TRIALS = 20


class Worker:
    """One of the two; late documents give each versions of its own, or all are the same.

    ``meanwhile`` runs once, after LATEST was read and before it is moved.
    """

    def __init__(self, store, first, own):
        self.store, self.newest, self.own = store, first, own
        self.left, self.told, self.meanwhile = list(SEQUENCES), "", lambda: None
        move = store.blobs.replace_pointer

        def cut_into(*given):
            meanwhile, self.meanwhile = self.meanwhile, lambda: None
            meanwhile()
            return move(*given)

        store.blobs.replace_pointer = cut_into

    def work(self):
        if self.told or not self.left:
            return
        version = manifest_of(self.left.pop(0), self.newest.version, ess=self.own)
        try:
            self.newest = self.store.publish(version, "", lambda *superseded: None)
        except StoreConflictError as error:
            self.told = str(error)


def trial(root, seed, ess):
    """The worker that was given up and the one in its place, after both have done what they can."""
    draw, made = random.Random(seed), ModelStore(str(root))
    first = made.publish(manifest_of(2), "", lambda *superseded: None)
    workers = [Worker(made, first, ess[0]), Worker(ModelStore(made.root), first, ess[1])]
    while any(worker.left and not worker.told for worker in workers):
        one, other = draw.sample(workers, 2)
        steps = draw.choice((0, 1, 2))
        one.meanwhile = lambda other=other, steps=steps: [other.work() for _ in range(steps)]
        one.work()
    return workers


@pytest.fixture(params=range(TRIALS))
def seed(request):
    return request.param


def test_the_job_goes_on_and_the_other_one_ends_in_one_line(tmp_path, seed):
    gone, living = trial(tmp_path, seed, ess=(1.5, 2.5))
    assert living.told == ""
    history = ModelStore(str(tmp_path)).manifests("")
    assert [(one.sequence, one.ess) for one in history] == [
        (2, 3.5),
        *((sequence, 2.5) for sequence in SEQUENCES),
    ]
    if gone.told:
        assert "\n" not in gone.told
        told = f"another worker of this job publishes: {tmp_path}, key '', is at its version 0000"
        assert gone.told.startswith(told)
        assert "two jobs publish into the store: stop one of them." in gone.told


def test_what_is_there_bit_for_bit_is_no_conflict(tmp_path, seed):
    gone, living = trial(tmp_path, seed, ess=(1.5, 1.5))
    assert gone.told == living.told == "" and gone.newest == living.newest
    history = ModelStore(str(tmp_path)).manifests("")
    assert [one.sequence for one in history] == [2, *SEQUENCES]


def test_some_trials_end_the_one_that_was_given_up(tmp_path):
    ended = [trial(tmp_path / str(seed), seed, (1.5, 2.5))[0].told for seed in range(TRIALS)]
    assert sum(map(bool, ended)) > TRIALS // 2


def test_one_that_was_restored_first_loses_to_one_that_was_restored_later(tmp_path):
    made = ModelStore(str(tmp_path))
    first = made.publish(manifest_of(2), "", lambda *superseded: None)
    earlier, later = (Worker(ModelStore(made.root), first, own) for own in (1.5, 2.5))
    for worker in (earlier, later, earlier, later, later):
        worker.work()
    assert earlier.told and not later.told
    assert [one.ess for one in made.manifests("")] == [3.5, 2.5, 2.5, 2.5]
