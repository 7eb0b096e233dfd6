"""The natural logarithm from IEEE 754 operations, with the same bits on every machine.

With x = m 2^e and m between sqrt(1/2) and sqrt(2), s = (m - 1) / (m + 1) lies within +-0.1716 and

    ln x = e ln 2 + 2 (s + s^3 / 3 + s^5 / 5 + ... + s^17 / 17)

The omitted terms are below 1e-15.
"""

from __future__ import annotations

import math
from typing import Any

from model.kernels.jit import inlined

_ROOT_OF_HALF = 0.7071067811865476
_LN_2 = 0.6931471805599453


@inlined
def ln(x: Any) -> Any:
    """Return ln x of a positive, finite float64."""
    m, e = math.frexp(x)
    if m < _ROOT_OF_HALF:
        m, e = 2.0 * m, e - 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    high = 1.0 / 9.0 + z * (1.0 / 11.0 + z * (1.0 / 13.0 + z * (1.0 / 15.0 + z * (1.0 / 17.0))))
    series = 1.0 + z * (1.0 / 3.0 + z * (1.0 / 5.0 + z * (1.0 / 7.0 + z * high)))
    return e * _LN_2 + 2.0 * s * series
