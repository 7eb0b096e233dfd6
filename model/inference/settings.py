"""How documents' topics are inferred: every setting that changes a result, with its default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from model.errors import OptionError, above_zero, at_least, one_of
from model.samplers import Sampler


@dataclass(frozen=True)
class InferenceSettings:
    """A method and its settings; each method reads those that concern it.

    Attributes:
        method: a registered name, for example ``gibbs3``.
        sweeps: of the Gibbs methods: passes over the documents after the first; 0 keeps the first pass alone. ``gibbs2-s`` and
            ``gibbs3-s`` make one, so two passes in all: the fewest in which each topic is drawn given all other tokens.
        burn_in: of these, how many come before the first state that counts; None: half of them, rounded down.
        average: take the mean proportions over the states after the burn-in, instead of those of the last state.
        learn_alpha: of ``gibbs1`` and ``gibbs2``: fit alpha to the documents after each sweep of the burn-in.
        sampler: ``dense`` weighs every topic, ``sparse`` (SparseLDA) only those of the word and the document; the law is the same, the
            draws are not. ``auto`` chooses by the number of topics.
        iterations, tolerance: of ``variational``: at most so many, until no proportion changes by more than the tolerance.
        repeats: of ``hybrid``: how often topics are drawn given the proportions, and these estimated again.
        seed: of all draws.
    """

    method: str = "gibbs3"
    sweeps: int = 20
    burn_in: int | None = None
    average: bool = True
    learn_alpha: bool = False
    sampler: Sampler = "auto"
    iterations: int = 100
    tolerance: float = 1e-4
    repeats: int = 10
    seed: int = 1

    def __post_init__(self) -> None:
        at_least("--inference_sweeps", self.sweeps, 0)
        at_least("--inference_seed", self.seed, 0)
        at_least("--variational_iterations", self.iterations, 1)
        at_least("--hybrid_repeats", self.repeats, 1)
        if self.burn_in is not None and not 0 <= self.burn_in <= max(self.sweeps - 1, 0):
            most = max(self.sweeps - 1, 0)
            raise OptionError("--inference_burn_in", self.burn_in, f"0 to {most}, below --inference_sweeps", "Correct the value.")
        one_of("--inference_sampler", self.sampler, get_args(Sampler))
        above_zero("--variational_tolerance", self.tolerance, "1e-6 and 1e-2")

    @property
    def burned(self) -> int:
        """How many sweeps come before the first that counts."""
        return self.sweeps // 2 if self.burn_in is None else self.burn_in

    @property
    def kept(self) -> int:
        """How many states the proportions come from: the last so many."""
        return max(self.sweeps - self.burned, 1) if self.average else 1

    @property
    def kept_repeats(self) -> int:
        """The same for the repeats of ``hybrid``: the later half."""
        return (self.repeats + 1) // 2 if self.average else 1
