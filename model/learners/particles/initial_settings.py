"""Settings of the initial batch; :mod:`model.learners.particles.initial_batch` uses them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from model.kinds import Kinds
from model.options import Record, option

# The number of documents of a batch that is never complete.
ENDLESS = sys.maxsize


class Initial(Record):
    """How learning begins."""


@dataclass(frozen=True)
class NoInitialBatch(Initial):
    """Learn the first document like all others."""

    kind = "none"


@dataclass(frozen=True)
class InitialBatch(Initial):
    """Run Gibbs chains over the first documents and start all particles from the best chain."""

    kind = "batch"

    documents: int = option(
        200,
        "size of the initial batch",
        name="initial_documents",
        unit="documents",
        least=1,
        remedy="Give --initial=none to start without.",
    )
    tokens: int = option(
        200_000,
        "the initial batch ends earlier when it has so many tokens",
        name="initial_tokens",
        unit="tokens",
        least=1,
    )
    chains: int = option(
        8, "C, Gibbs chains over the initial batch; all particles start from the best", least=1
    )
    sweeps: int = option(50, "sweeps of each chain", name="initial_sweeps", least=1)
    choice: Literal["perplexity", "nmi", "posterior"] = option(
        "perplexity",
        "how chains are compared: by held-out perplexity, P(w, z), or nMI with the labels",
        name="initial_choice",
    )

    def conditions(self) -> Mapping[str, tuple[bool, str]]:
        return {"initial_choice": (self.chains > 1, "--chains is above 1")}


INITIALS = Kinds(InitialBatch, NoInitialBatch)
