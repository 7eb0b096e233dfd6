"""Products of very many probabilities, without logarithms.

A :class:`Scaled` is mantissa * 2**exponent with 0.5 <= mantissa < 1, or 0. Multiplication and
comparison use only operations that IEEE 754 specifies, so the bits are the same on every machine.
The last bits of logarithms differ between libraries; they are computed for display only. Kernels
keep the two parts in separate arrays and scale by exact powers of two.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

import numpy as np

from beam_topics.model.arrays import FloatArray
from beam_topics.model.stored import checks

_FORM = struct.Struct("<dq")
_BELOW_ONE = math.nextafter(1.0, 0.0)
# Mantissas that are multiplied without scaling. Their product is at least 2^-1001.
_TOGETHER = 1000


@dataclass(frozen=True, slots=True)
class Scaled:
    """A non-negative number of any magnitude."""

    mantissa: float
    exponent: int

    @classmethod
    def of(cls, mantissa: float, exponent: int = 0) -> Scaled:
        """Return the number mantissa * 2**exponent in its unique normal form."""
        fraction, shift = math.frexp(mantissa)
        return cls(fraction, exponent + shift if fraction else 0)

    @classmethod
    def product(cls, factors: FloatArray) -> Scaled:
        """Return the product of numbers, with the bits of one multiplication after another."""
        mantissas, shifts = np.frexp(factors)
        mantissa, exponent = 0.5, 1 + int(shifts.sum(dtype=np.int64))
        for first in range(0, len(mantissas), _TOGETHER):
            some = np.append(mantissa, mantissas[first : first + _TOGETHER])
            mantissa, shift = math.frexp(np.multiply.accumulate(some)[-1])
            exponent += shift
        return cls.of(mantissa, exponent)

    @classmethod
    def from_log(cls, log: float) -> Scaled:
        """Return the number with this natural logarithm."""
        exponent = math.floor(log / math.log(2.0))
        return cls.of(math.exp(log - exponent * math.log(2.0)), exponent)

    def __mul__(self, other: Scaled) -> Scaled:
        return Scaled.of(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def __lt__(self, other: Scaled) -> bool:
        return self.order() < other.order()

    def order(self) -> tuple[float, float]:
        """Return a sort key; 0 comes first."""
        return (self.exponent, self.mantissa) if self.mantissa else (-math.inf, 0.0)

    def log(self) -> float:
        """Return the natural logarithm, for display."""
        return math.log(self.mantissa) + self.exponent * math.log(2) if self.mantissa else -math.inf

    def to_bytes(self) -> bytes:
        return _FORM.pack(self.mantissa, self.exponent)

    @classmethod
    def from_bytes(cls, data: bytes) -> Scaled:
        """Decode the bytes of :meth:`to_bytes`.

        Raises:
            DamagedDataError: the bytes are not a scaled number.
        """
        checks.sized("bytes of a scaled number", data, _FORM.size)
        mantissa, exponent = _FORM.unpack(data)
        if mantissa:
            checks.number("mantissa of a scaled number", mantissa, 0.5, _BELOW_ONE)
        checks.whole("exponent of a scaled number", exponent, -checks.LARGEST)
        return cls(mantissa, exponent)

    @classmethod
    def from_hex(cls, text: object) -> Scaled:
        """Decode bytes in hexadecimal digits, as :meth:`from_bytes` does."""
        try:
            return cls.from_bytes(bytes.fromhex(str(text)))
        except ValueError:
            checks.refuse("a scaled number", repr(text), "32 hexadecimal digits")
