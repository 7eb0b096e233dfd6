"""One rate of false alarms for all statistical tests together, and the statistics that they use.

Seeds are fixed, so a test that passes continues to pass; the rate says how surprised to be when a
change of code makes one fail. A planted bug must be rejected at the very level that the true code
is judged by.
"""

import numpy as np
from scipy.stats import chisquare, norm

SUITE = 1e-6
TESTS = 100
ALARM = SUITE / TESTS


def agrees_in_counts(observed, probabilities):
    """Whether counts may come from these probabilities, by Pearson's test (rare cells joined)."""
    observed, expected = (
        np.asarray(observed, float),
        np.asarray(probabilities, float) * np.sum(observed),
    )
    order = np.argsort(expected)
    rare = order[: np.searchsorted(np.cumsum(expected[order]), 10.0) + 1]
    cells = [
        np.concatenate([np.delete(part, rare), [part[rare].sum()]]) for part in (observed, expected)
    ]
    return chisquare(*cells).pvalue > ALARM


def agrees_in_means(values, truth):
    """Whether independent values may have these means.

    Each column is tested by its standard error, with Bonferroni's correction over the columns.
    """
    values = np.asarray(values, float).reshape(len(values), -1)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    z = np.abs(values.mean(axis=0) - truth) / np.maximum(error, 1e-300)
    return bool((2 * norm.sf(z) * values.shape[1] > ALARM).all())
