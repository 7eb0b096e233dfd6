from dataclasses import replace

from beam_topics.model.learner_log.head import LearnerHead, Live, LiveLearners

MB = 2**20
MOST = 25
HEAD = LearnerHead(1, b"c", b"f", b"w")


def saved(state):
    return f"saved {state}".encode()


def learner(name, megabytes=10):
    return Live(name, HEAD, megabytes * MB, saved)


def test_a_learner_that_is_out_cannot_be_had_again():
    live = LiveLearners()
    live.check_in("a", learner("a"), MOST)
    assert live.check_out("a").state == "a"
    assert live.check_out("a") is None


def test_the_least_recently_used_is_packed():
    live = LiveLearners()
    for name in "ab":
        live.check_in(name, learner(name), MOST)
    live.check_in("a", live.check_out("a"), MOST)
    live.check_in("c", learner("c"), MOST)
    packed = live.check_out("b")
    assert packed.packed and packed.state == b"saved b" and packed.stands_at(HEAD)
    assert packed.nbytes == len(b"saved b")
    assert not any(live.check_out(name).packed for name in "ac")


def test_packed_learners_beyond_the_bound_are_dropped_the_oldest_first():
    live, each = LiveLearners(), len(saved("1"))
    # The live learner and two packed ones fit.
    most = (10 * MB + 2 * each) / MB
    for name in "1234":
        live.check_in(name, learner(name), most)
    assert live.check_out("1") is None
    assert [live.check_out(name).packed for name in "234"] == [True, True, False]
    live.check_in("5", learner("5"), most)
    assert len(live) == 1


def test_a_learner_that_was_restored_while_it_was_packed_stays_as_it_is():
    live = LiveLearners()

    def restored_meanwhile(state):
        live.check_in("a", learner("restored", 1), MOST)
        return b"old"

    live.check_in("a", Live("a", HEAD, 20 * MB, restored_meanwhile), MOST)
    live.check_in("b", learner("b"), MOST)
    assert live.check_out("a").state == "restored"


def test_the_last_one_stays_however_large():
    live = LiveLearners()
    live.check_in("a", learner("a"), MOST)
    live.check_in("b", learner("b", 1000), MOST)
    assert len(live) == 1 and live.check_out("b")


def test_a_second_check_in_replaces_the_first():
    live = LiveLearners()
    live.check_in("a", learner("old", 20), MOST)
    live.check_in("a", learner("new", 20), MOST)
    live.check_in("b", learner("b", 5), MOST)
    assert len(live) == 2 and live.check_out("a").state == "new"


def test_it_stands_where_all_three_are_equal():
    live = learner("a")
    assert live.stands_at(HEAD)
    assert not any(
        (
            live.stands_at(replace(HEAD, sequence=2)),
            live.stands_at(replace(HEAD, fingerprint=b"g")),
            live.stands_at(replace(HEAD, witness=b"x")),
        )
    )
