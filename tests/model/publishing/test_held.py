import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from made import random_snapshot

from beam_topics.model.publishing.snapshot import Held
from beam_topics.model.publishing.snapshots import snapshot_to_file
from beam_topics.model.words.character_model import CharacterModel
from beam_topics.model.words.word_list import WordList

# Bytes of the model that most tests hold: 30 words with 18 bytes and a number of entries each, and
# entries of a topic and a count that is not whole.
SIZE = 30 * (18 + 1) + (1 + 8) * len(random_snapshot().counts)


def digest_of(snapshot):
    return snapshot_to_file(snapshot).digest


def name(version):
    return "store", "key", version


def never():
    raise AssertionError("it is held")


def test_a_model_is_read_once_until_it_is_dropped():
    held, snapshot, reads = Held(), random_snapshot(), []
    for _ in range(2):
        found = held.get(name("1"), lambda: reads.append(1) or snapshot)
        assert digest_of(found) == digest_of(snapshot)
    assert len(reads) == 1
    held.drop(name("1"))
    held.drop(name("1"))
    held.get(name("1"), lambda: reads.append(1) or snapshot)
    assert len(reads) == 2
    # Another store or key may have a version of that name.
    held.get(("other", "key", "1"), lambda: reads.append(1) or snapshot)
    assert len(reads) == 3


def test_what_a_model_has_derived_is_not_held():
    held, snapshot = Held(), random_snapshot()
    read = replace(snapshot, words=WordList.from_bytes("\n".join(snapshot.words).encode()))
    derived = read.by_topic, read.totals, read.numbers
    held.put(name("1"), read)
    found = held.get(name("1"), never)
    assert not {"by_topic", "totals", "numbers"} & vars(found).keys()
    assert vars(found.words).keys() == {"text", "_count"}
    assert found.words == read.words
    assert all(map(np.array_equal, found.by_topic, derived[0]))
    assert found.numbers == derived[2]


def test_those_that_were_used_least_recently_leave_first():
    snapshot = random_snapshot()
    held = Held(2 * SIZE)
    for version in "12":
        held.put(name(version), snapshot)
    held.get(name("1"), never)
    held.put(name("3"), snapshot)
    held.get(name("1"), never)
    held.get(name("3"), never)
    reads = []
    held.get(name("2"), lambda: reads.append(1) or snapshot)
    assert reads


def test_a_model_that_is_larger_than_the_bound_is_not_held():
    snapshot, reads = random_snapshot(), []
    held = Held(SIZE - 1)
    for _ in range(2):
        held.get(name("1"), lambda: reads.append(1) or snapshot)
    assert len(reads) == 2
    # The sum is that of what is held.
    held.put(name("1"), random_snapshot(words=5))
    held.get(name("1"), never)


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_what_is_held_has_the_same_bytes_and_does_not_change_with_the_model(factor):
    held, snapshot = Held(), random_snapshot()
    letters = CharacterModel.fit(snapshot.words)
    prior = replace(snapshot.prior, letters=letters)
    snapshot = replace(snapshot, prior=prior, counts=snapshot.counts * factor)
    digest = digest_of(snapshot)
    held.put(name("1"), snapshot)
    # The trie, which fitting made.
    assert "_trie" in vars(letters.spelling)
    assert "_trie" not in vars(held.get(name("1"), never).prior.characters.spelling)
    for array in (
        *(snapshot.alpha, snapshot.offsets, snapshot.topics, snapshot.counts),
        *(snapshot.prior.strength, snapshot.prior.base),
    ):
        array.flags.writeable = True
        array[:] = 1
    found = held.get(name("1"), never)
    assert digest_of(found) == digest
    types = (found.offsets.dtype, found.topics.dtype, found.counts.dtype)
    assert types == (np.int64, np.int32, np.float64)


@pytest.mark.parametrize(("factor", "most"), [(2.0, 3), (1.0, 10)])
def test_what_is_held_takes_few_bytes(factor, most):
    snapshot = random_snapshot(words=3000)
    snapshot = replace(snapshot, counts=snapshot.counts * factor)
    held = Held()
    tracemalloc.start()
    try:
        held.put(name("1"), snapshot)
        took = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    # Without the words, which both share, and the base.
    assert took - 8 * 3000 < most * len(snapshot.counts) + 10_000
