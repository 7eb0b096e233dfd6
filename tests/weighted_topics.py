"""Documents with known topics, and grids, for the tests of learned weights of topics."""

import numpy as np

# Most documents have the first topic alone, so that neither A nor gamma can be large.
ROWS = {(6, 0): 20, (4, 2): 4, (0, 3): 2}
COUNTS = np.repeat(np.array(list(ROWS), np.int32), list(ROWS.values()), axis=0)


def grid(low, high, cells):
    edges = np.linspace(low, high, cells + 1)
    return (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
