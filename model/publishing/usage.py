"""How many topics a version uses.

With shares s_t of the tokens that came since the parent, exp(- sum s_t ln s_t) is the effective
number of topics. A topic is in use if its share is at least :data:`PART` of what each of so many
equal topics would have.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

PART = 0.2


def topics_in_use(tokens: Sequence[float] | None) -> int | None:
    """Return the number of topics in use; None where it is not known or where no token came.

    Args:
        tokens: The tokens of each topic that came (``Manifest.topic_tokens``).
    """
    total = math.fsum(tokens or ())
    if tokens is None or not total:
        return None
    shares = [count / total for count in tokens]
    entropy = -math.fsum(share * math.log(share) for share in shares if share > 0)
    return sum(share >= PART * math.exp(-entropy) for share in shares)
