"""The settings of methods that draw: a seed, and for Gibbs sampling the number of sweeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from model.errors import OptionError
from model.inference.base import InferenceSettings
from model.options import option

Kept = Literal["average", "last"]

KEPT_HELP = (
    "whether proportions are averaged over the states after the burn-in, or come from the last one"
)


@dataclass(frozen=True)
class Sampling(InferenceSettings):
    """Settings of a method that draws."""

    seed: int = option(
        1, "seed of the draws, together with the document's id", name="inference_seed", least=0
    )


@dataclass(frozen=True)
class GibbsSampling(Sampling):
    """Two passes over the documents.

    These are the fewest in which each topic is drawn given all other tokens.
    """

    @property
    def sweeps(self) -> int:
        """The number of passes over the documents after the first."""
        return 1

    @property
    def burned(self) -> int:
        """The number of sweeps before the first state that is kept."""
        return 0

    @property
    def kept(self) -> int:
        """The number of states that are averaged, the last ones."""
        return 1


@dataclass(frozen=True)
class GibbsSweeps(GibbsSampling):
    """A chosen number of passes over the documents."""

    sweeps: int = option(
        20,
        "sweeps after the first pass; 0 keeps the first pass alone",
        name="inference_sweeps",
        least=0,
        first=True,
    )
    burn_in: int | None = option(
        None,
        "number of these sweeps that do not count; without it, half of them",
        name="inference_burn_in",
        least=0,
    )
    states: Kept = option("average", KEPT_HELP, name="inference_from")

    def check(self) -> None:
        most = max(self.sweeps - 1, 0)
        if self.burn_in is not None and self.burn_in > most:
            raise OptionError(
                "--inference_burn_in",
                self.burn_in,
                f"0 to {most}, below --inference_sweeps",
                "Correct the value.",
            )

    @property
    def burned(self) -> int:
        return self.sweeps // 2 if self.burn_in is None else self.burn_in

    @property
    def kept(self) -> int:
        return max(self.sweeps - self.burned, 1) if self.states == "average" else 1
