from model.learner_log.live import Live, LiveLearners


def learner(name, nbytes=10):
    return Live(name, 1, b"f", b"w", nbytes)


def test_a_learner_that_is_out_cannot_be_had_again():
    live = LiveLearners()
    live.check_in("a", learner("a"))
    assert live.check_out("a").state == "a"
    assert live.check_out("a") is None


def test_the_least_recently_used_makes_room():
    live = LiveLearners(capacity=25)
    for name in "ab":
        live.check_in(name, learner(name))
    live.check_in("a", live.check_out("a"))
    live.check_in("c", learner("c"))
    assert live.check_out("b") is None
    assert live.check_out("a") and live.check_out("c")


def test_the_last_one_stays_however_large():
    live = LiveLearners(capacity=25)
    live.check_in("a", learner("a"))
    live.check_in("b", learner("b", 1000))
    assert len(live) == 1 and live.check_out("b")


def test_a_second_check_in_replaces_the_first():
    live = LiveLearners(capacity=25)
    live.check_in("a", learner("old", 20))
    live.check_in("a", learner("new", 20))
    live.check_in("b", learner("b", 5))
    assert len(live) == 2 and live.check_out("a").state == "new"


def test_it_stands_where_all_three_are_equal():
    live = learner("a")
    assert live.stands_at(1, b"f", b"w")
    assert not any(
        (
            live.stands_at(2, b"f", b"w"),
            live.stands_at(1, b"g", b"w"),
            live.stands_at(1, b"f", b"x"),
        )
    )
