"""How many topics are in use."""

from beam_topics.model.publishing.manifest import topics_in_use


def test_topics_in_use():
    assert topics_in_use([10.0] * 20) == 20
    assert topics_in_use([100.0] * 19 + [15.0, 1.0, 0.0]) == 19
    assert topics_in_use([100.0] * 19 + [25.0, 1.0, 0.0]) == 20
    assert topics_in_use([7.0]) == 1


def test_unknown():
    assert topics_in_use(None) is None
    assert topics_in_use([0.0, 0.0]) is None
