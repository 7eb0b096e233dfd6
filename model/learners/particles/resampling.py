"""Settings of resampling; the schemes are in :mod:`model.learners.particles.kernels.resampling`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.errors import OptionError
from model.options import Kinds, Record, option


class Resampling(Record):
    """What the particle filter asks of resampling settings."""

    @property
    def by_tokens(self) -> bool:
        """Return whether the effective sample size is checked after each token."""
        return False

    @property
    def scheme(self) -> int:
        """Return the number of the scheme."""
        return 0

    def threshold(self, particles: int, islands: int) -> float:
        """Return the effective sample size at or below which an island resamples; 0 means never."""
        return 0.0

    def check_particles(self, particles: int, islands: int) -> None:
        """Check that the threshold can be reached by so many particles.

        Raises:
            OptionError: it cannot.
        """


@dataclass(frozen=True)
class NeverResample(Resampling):
    """No resampling: particles are independent chains."""

    kind = "never"


@dataclass(frozen=True)
class _AtThreshold(Resampling):
    """Resample when the effective sample size is at or below a threshold."""

    ess: float = option(
        0.5,
        "resample at or below this effective sample size: particles, or below 1 a share of P",
        above=0,
        remedy="Give --resampling=never to resample never.",
        first=True,
    )
    ess_check: Literal["document", "token"] = option(
        "document",
        "after what the effective sample size is checked; always token with --rejuvenation=tokens",
    )

    @property
    def by_tokens(self) -> bool:
        return self.ess_check == "token"

    @property
    def scheme(self) -> int:
        # Imported here, so that settings can be listed without kernels.
        from model.learners.particles.kernels.resampling import SCHEMES

        return SCHEMES.index(self.kind)

    def threshold(self, particles: int, islands: int) -> float:
        return self.ess * (particles // islands) if self.ess < 1 else self.ess / islands

    def check_particles(self, particles: int, islands: int) -> None:
        if particles == islands:
            allowed = "never where an island has one particle"
            remedy = "Give more --particles, or leave it out."
            raise OptionError("--resampling", self.kind, allowed, remedy)
        if self.ess > particles:
            remedy = "Give a number of particles, or a share below 1."
            raise OptionError("--ess", self.ess, f"at most --particles ({particles})", remedy)
        threshold, island = self.threshold(particles, islands), particles // islands
        if threshold < 1:
            least = (
                f"a value that comes to 1 or more of the {island} particles of an island,"
                f" not to {threshold:g}"
            )
            raise OptionError(
                "--ess", self.ess, least, "An effective sample size is never below 1."
            )


@dataclass(frozen=True)
class Residual(_AtThreshold):
    """A certain number of copies of each particle first, then draws from the remaining weights."""

    kind = "residual"


@dataclass(frozen=True)
class Multinomial(_AtThreshold):
    """Independent draws."""

    kind = "multinomial"


@dataclass(frozen=True)
class Stratified(_AtThreshold):
    """One draw in each of P equal parts of the weights."""

    kind = "stratified"


@dataclass(frozen=True)
class Systematic(_AtThreshold):
    """One draw, repeated at equal distances."""

    kind = "systematic"


RESAMPLINGS = Kinds(NeverResample, Residual, Multinomial, Stratified, Systematic)
