import numpy as np

from beam_topics.model.words.vocabulary import UNKNOWN, Vocabulary


def used(vocabulary, **uses):
    numbers = vocabulary.numbers(uses)
    vocabulary.used(numbers, np.array(list(uses.values())))


def test_words_join_in_order_of_first_use_until_it_is_full():
    vocabulary = Vocabulary(["given"], 3)
    assert vocabulary.numbers(["b", "given", "a", "c", "b"]).tolist() == [1, 0, 2, UNKNOWN, 1]
    assert list(vocabulary.words) == ["given", "b", "a"]


def test_nobody_leaves_while_there_is_room():
    vocabulary = Vocabulary([], 4)
    used(vocabulary, a=1, b=2)
    assert vocabulary.staying(["c", "d", "a"]) is None


def test_the_least_used_leave_and_of_equals_the_later():
    vocabulary = Vocabulary([], 5)
    used(vocabulary, a=1, b=3, c=1, d=9, e=1)
    # One new word; a tenth of the places is freed too: four stay.
    assert vocabulary.staying(["new"]).tolist() == [0, 1, 2, 3]
    assert vocabulary.staying(["new", "newer", "newest"]).tolist() == [1, 3]


def test_words_about_to_be_used_stay():
    vocabulary = Vocabulary([], 3)
    used(vocabulary, a=1, b=5, c=5)
    assert vocabulary.staying(["a", "new"]).tolist() == [0, 1]
    assert vocabulary.staying(["a", "b", "c", "new"]).tolist() == [0, 1, 2]


def test_use_fades():
    vocabulary = Vocabulary([], 9, memory=4)
    used(vocabulary, a=16, b=3)
    used(vocabulary, b=3, c=1)
    used(vocabulary, b=3)
    assert vocabulary.use.tolist() == [9.0, 3 * 0.5625 + 3 * 0.75 + 3, 0.75]


def test_those_who_stay_are_numbered_anew_and_a_word_that_comes_back_is_new():
    vocabulary = Vocabulary([], 3)
    used(vocabulary, a=1, b=2, c=3)
    vocabulary.keep(np.array([0, 2]))
    assert list(vocabulary.words) == ["a", "c"]
    assert vocabulary.use.tolist() == [1.0, 3.0]
    assert vocabulary.numbers(["c", "b"]).tolist() == [1, 2]
    vocabulary.used(np.array([2], np.int32), np.array([1]))
    assert vocabulary.use.tolist() == [0.0, 0.0, 1.0]


def test_unknown_tokens_are_no_use():
    vocabulary = Vocabulary(["a"], 1)
    vocabulary.used(np.array([0, UNKNOWN], np.int32), np.array([2, 3]))
    assert vocabulary.use.tolist() == [2.0]


def test_the_memory_of_the_words_is_counted_as_they_come_and_leave():
    vocabulary = Vocabulary(["tax", "law"], 10)
    # The letters and newlines, a place for each word, and a table of eight places.
    assert vocabulary.nbytes() == 8 + 2 * 8 + 8 * 8
    vocabulary.numbers(["a longer word", "日本"])
    vocabulary.used(np.array([0, 2], np.int32), np.array([2, 1]))
    assert vocabulary.nbytes() == 8 + 14 + 7 + 4 * 8 + 8 * 8
    vocabulary.keep(np.array([0, 2]))
    vocabulary.extend(["gold"])
    assert vocabulary.nbytes() == Vocabulary(["tax", "a longer word", "gold"], 10).nbytes()
