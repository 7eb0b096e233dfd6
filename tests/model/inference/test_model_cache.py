import sys
from dataclasses import dataclass
from threading import Thread

import numpy as np
from scipy.sparse import csr_array

from beam_topics.model.inference.serving import ModelCache, held_bytes


def loader(loaded, name, size=1000):
    def load():
        loaded.append(name)
        return np.zeros(size, np.int8)

    return load


def test_the_least_recently_used_leave_first():
    cache, loaded = ModelCache(), []
    for name in ("a", "b", "a", "c", "a", "b"):
        cache.get(name, loader(loaded, name), 2000)
    # c takes the place of b, because a was used after b; and b that of c.
    assert loaded == ["a", "b", "c", "b"]
    assert cache.size == 2000


def test_a_value_larger_than_the_cache_stays_until_the_next():
    cache, loaded = ModelCache(), []
    for name in ("a", "a", "b", "a"):
        cache.get(name, loader(loaded, name), 0)
    assert loaded == ["a", "b", "a"]
    assert cache.size == 1000
    cache.clear()
    assert cache.size == 0


def test_a_value_that_two_threads_load_counts_once():
    cache = ModelCache()

    def load():
        if len(started) < 2:
            started.append(1)
            other.start()
            other.join()
        return np.zeros(10, np.int8)

    started = [1]
    other = Thread(target=lambda: cache.get("a", lambda: np.zeros(10, np.int8), 100))
    cache.get("a", load, 100)
    assert cache.size == 10


def test_held_bytes_are_of_everything_that_is_referred_to_and_once():
    @dataclass
    class Holder:
        words: tuple[str, ...]
        array: np.ndarray
        again: np.ndarray

    words, array = ("abc", "de" * 50), np.zeros(1000)
    found = held_bytes(Holder(words, array, array))
    least = array.nbytes + sum(map(sys.getsizeof, words))
    assert least <= found <= least + 1000
    matrix = csr_array(np.ones((10, 100)))
    assert held_bytes((matrix, matrix)) >= matrix.data.nbytes + matrix.indices.nbytes
    assert held_bytes({"a": [array]}) >= array.nbytes
