import numpy as np
import pytest

from beam_topics.model.inference.mixtures import posterior_mean


@pytest.mark.parametrize("topics", [1, 2, 7, 8, 9, 20, 127, 128, 129, 1000, 5000])
@pytest.mark.parametrize("documents", [0, 1, 2, 300])
def test_means_of_many_documents_have_the_bits_of_each_alone(topics, documents):
    generator = np.random.default_rng(topics)
    counts = generator.integers(0, 50, (documents, topics)) / 10
    alpha = generator.uniform(0.01, 2, topics)
    found = posterior_mean(counts, alpha)
    assert found.shape == (documents, topics)
    for row, mean in zip(counts, found, strict=True):
        assert posterior_mean(row, alpha).tobytes() == mean.tobytes()
