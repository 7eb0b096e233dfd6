"""Products of very many probabilities without logarithms.

A :class:`Scaled` is mantissa * 2**exponent with 0.5 <= mantissa < 1 (or 0). Multiplying and
comparing need only what IEEE 754 fixes, so the bits are the same on every machine; logarithms,
whose last bits differ between libraries, are taken only for people to read. Kernels keep the two
parts in arrays of their own and scale by exact powers of two.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass

from model import checks

_FORM = struct.Struct("<dq")
_BELOW_ONE = math.nextafter(1.0, 0.0)


@dataclass(frozen=True, slots=True)
class Scaled:
    """A non-negative number of any magnitude."""

    mantissa: float
    exponent: int

    @classmethod
    def of(cls, mantissa: float, exponent: int = 0) -> Scaled:
        """The number mantissa * 2**exponent in its one normal form."""
        fraction, shift = math.frexp(mantissa)
        return cls(fraction, exponent + shift if fraction else 0)

    def __mul__(self, other: Scaled) -> Scaled:
        return Scaled.of(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def __lt__(self, other: Scaled) -> bool:
        return self.order() < other.order()

    def order(self) -> tuple[float, float]:
        """A key to sort by; 0 comes before everything."""
        return (self.exponent, self.mantissa) if self.mantissa else (-math.inf, 0.0)

    def log(self) -> float:
        """The natural logarithm, for people to read."""
        return math.log(self.mantissa) + self.exponent * math.log(2) if self.mantissa else -math.inf

    def to_bytes(self) -> bytes:
        return _FORM.pack(self.mantissa, self.exponent)

    @classmethod
    def from_bytes(cls, data: bytes) -> Scaled:
        """The inverse of :meth:`to_bytes`. Raises DamagedDataError."""
        checks.sized("bytes of a scaled number", data, _FORM.size)
        mantissa, exponent = _FORM.unpack(data)
        if mantissa:
            checks.number("mantissa of a scaled number", mantissa, 0.5, _BELOW_ONE)
        checks.whole("exponent of a scaled number", exponent, -checks.LARGEST)
        return cls(mantissa, exponent)

    @classmethod
    def from_hex(cls, text: object) -> Scaled:
        """The same, of bytes in hexadecimal digits."""
        try:
            return cls.from_bytes(bytes.fromhex(str(text)))
        except ValueError:
            checks.refuse("a scaled number", repr(text), "32 hexadecimal digits")
