from dataclasses import replace

import numpy as np
from made import random_snapshot

from model.publishing.held import Held, copy_of, size_of
from model.publishing.snapshot_file import snapshot_to_file
from model.word_list import WordList
from model.words.character_model import CharacterModel


def name(version):
    return "store", "key", version


def never():
    raise AssertionError("it is held")


def test_a_model_is_read_once_until_it_is_dropped():
    held, snapshot, reads = Held(), random_snapshot(), []
    for _ in range(2):
        found = held.get(name("1"), lambda: reads.append(1) or snapshot)
        assert found.counts is snapshot.counts
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
    assert (found.counts is read.counts, found.numbers == derived[2]) == (True, True)


def test_those_that_were_used_least_recently_leave_first():
    snapshot = random_snapshot()
    held = Held(2 * size_of(snapshot))
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
    held = Held(size_of(snapshot) - 1)
    for _ in range(2):
        held.get(name("1"), lambda: reads.append(1) or snapshot)
    assert len(reads) == 2
    # The sum is that of what is held.
    held.put(name("1"), random_snapshot(words=5))
    held.get(name("1"), never)


def test_a_copy_has_the_same_bytes_and_shares_no_array():
    snapshot = random_snapshot()
    letters = CharacterModel.fit(snapshot.words)
    snapshot = replace(snapshot, prior=replace(snapshot.prior, letters=letters))
    copied, digest = copy_of(snapshot), snapshot_to_file(snapshot).digest
    assert snapshot_to_file(copied).digest == digest
    for name in ("alpha", "offsets", "topics", "counts"):
        assert not np.shares_memory(getattr(snapshot, name), getattr(copied, name))
    for name in ("strength", "base"):
        assert not np.shares_memory(getattr(snapshot.prior, name), getattr(copied.prior, name))
    # The trie, which fitting made.
    assert "_trie" in vars(letters.spelling)
    assert "_trie" not in vars(copied.prior.characters.spelling)
