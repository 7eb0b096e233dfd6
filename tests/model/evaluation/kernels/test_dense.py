import numpy as np

from beam_topics.model.evaluation.kernels.held_out import draw_topic


def test_draw_topic_takes_a_topic_with_a_weight_at_every_uniform():
    sums = np.array([0.0, 0.25, 0.25, 1.0, 1.0])
    drawn = [draw_topic(sums, u) for u in (0.0, 0.2499, 0.25, 0.5, 1 - 2.0**-53, 1.0)]
    assert drawn == [1, 1, 3, 3, 3, 3]
    assert draw_topic(np.array([2.0]), 0.7) == 0
