"""The learned weights of topics as bytes."""

from __future__ import annotations

import numpy as np

from model import checks, wire
from model.learners.particles.kernels.topic_weights import LEAST
from model.learners.particles.priors import with_alpha
from model.learners.particles.state import ParticleState

_MAGIC = b"BTB1"
# Bounds of a concentration that is drawn.
_SMALLEST, _LARGEST = 2.0**-100, 2.0**100


def weights_to_bytes(state: ParticleState) -> bytes:
    """Return gamma and alpha as bytes."""
    alpha = state.prior.alpha[: state.settings.topic_count]
    return wire.pack(_MAGIC, {"gamma": state.gamma.hex()}, wire.array_to_bytes(alpha, "<f8"))


def weights_from_bytes(data: bytes, state: ParticleState) -> None:
    """Read the bytes of :func:`weights_to_bytes` into a state.

    Raises:
        DamagedDataError: the bytes are not of this form, or hold what no learner holds.
    """
    header, (alpha,) = wire.unpack(_MAGIC, data, 1)
    text = checks.field(header, "gamma")
    try:
        state.gamma = float.fromhex(text)
    except (ValueError, TypeError, OverflowError):
        checks.refuse("gamma of the weights", repr(text), "a number in hexadecimal digits")
    checks.measures("gamma of the weights", np.array([state.gamma]), _SMALLEST, _LARGEST)
    values = wire.array_from_bytes(alpha, "<f8")
    checks.sized("Dirichlet parameters of topics", values, state.settings.topic_count)
    checks.measures("Dirichlet parameters of topics", values, _SMALLEST * LEAST, _LARGEST)
    state.prior = with_alpha(state.prior, values)
