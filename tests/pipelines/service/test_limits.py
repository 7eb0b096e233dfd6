"""Token buckets, with a clock of the test's own."""

import pytest

from beam_topics.pipelines.service import limits
from beam_topics.pipelines.service.limits import Rate


def test_ten_seconds_at_once_and_then_one_for_each_interval():
    found = Rate(2.0)
    assert [found.wait("a", 0.0) for _ in range(21)] == [0.0] * 20 + [0.5]
    assert found.wait("a", 0.25) == pytest.approx(0.25)
    assert found.wait("a", 0.5) == 0.0 and found.wait("a", 0.5) == pytest.approx(0.5)
    assert [found.wait("a", 1000.0) for _ in range(21)] == [0.0] * 20 + [0.5]


def test_clients_have_buckets_of_their_own():
    found = Rate(0.1)
    assert found.wait("a", 0.0) == found.wait("b", 0.0) == 0.0
    assert found.wait("a", 0.0) == found.wait("b", 0.0) == pytest.approx(10.0)


def test_without_a_rate_everything_is_taken():
    assert {Rate(0.0).wait("a", 0.0) for _ in range(1000)} == {0.0}


def test_the_number_of_buckets_is_bounded(monkeypatch):
    monkeypatch.setattr(limits, "MOST_CLIENTS", 2)
    found = Rate(0.1)
    for client in "abac":
        found.wait(client, 0.0)
    # b was used least recently and left, so it begins again; a did not.
    assert found.wait("a", 0.0) > 0 and found.wait("b", 0.0) == 0.0
