"""Settings of the model store: where it is, which model is used, when islands change, what is kept.

A :class:`Keep` has rules. A rule keeps the versions up to an age, all of them or the last one of
each period. A version that any rule keeps is kept. Ages are event time, counted back from the
newest version, and periods begin at 1970-01-01 UTC, so the choice depends on nothing but the
versions.

>>> day = 86_400_000_000
>>> keep = Keep((Rule(0, day), Rule(day, 3 * day)))
>>> half_days = [Brief(f"{n:012}-{n:016x}", n * day // 2, "", None) for n in range(12)]
>>> [brief.event_time / day for brief in keep.chosen(half_days)]
[2.5, 3.5, 4.5, 5.0, 5.5]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from beam_topics.model.settings.options import Record, option
from beam_topics.model.times import duration_text


@dataclass(frozen=True)
class StoreSettings(Record):
    """Where the model store is."""

    root: str = option(
        "",
        "folder, or gs://bucket/folder, for models and checkpoints",
        name="model_store",
        first=True,
    )
    trust: str = option(
        "",
        "file of public Ed25519 keys in PEM, on each worker; versions and checkpoints that none of"
        " them has signed are refused",
    )


@dataclass(frozen=True)
class VersionSettings(Record):
    """Which model of a store is used."""

    version: str = option(
        "latest", "version of the model, or latest", name="model_version", first=True
    )
    key: str = option(
        "",
        "key of the model, where the store holds one for each --key_field",
        name="model_key",
    )


class Publication(NamedTuple):
    """How often a version is published.

    Attributes:
        kind: what is counted: ``windows`` or ``period``.
        every: a number of windows, or microseconds of event time.
    """

    kind: str
    every: int

    def __str__(self) -> str:
        return f"{self.every}windows" if self.kind == "windows" else duration_text(self.every)


class PublishSettings(NamedTuple):
    """When a version may come from another particle or island than the version before it.

    Attributes:
        margin: m of :mod:`beam_topics.model.publishing.choice`. 0.001 is about one percent of
            perplexity.
        versions: the number of versions in a row in which another sampler has to be better.
    """

    margin: float = 0.001
    versions: int = 3


DAY = 86_400_000_000


class Brief(NamedTuple):
    """What an expiry needs of a manifest: its name, its snapshot's digest, and its parent."""

    version: str
    event_time: int
    snapshot: str
    parent: str | None


class Rule(NamedTuple):
    """What is kept up to an age.

    Attributes:
        period: The last version of each period of this many microseconds is kept; 0 keeps all.
        age: The age in microseconds up to which the rule holds; None for any age.
    """

    period: int
    age: int | None


class Keep(NamedTuple):
    """What an expiry keeps.

    Options are tuples and plain values, because portable runners send them as JSON.

    Attributes:
        rules: The rules for versions.
        checkpoints: The number of newest points of each key from which a run can continue; 0 keeps
            all.
        grace: No file is removed before ``LATEST`` moved this many microseconds after it was
            written or used. Jobs that lag behind, or continue from an earlier state of their
            runner, still find what they refer to.
    """

    rules: tuple[Rule, ...] = (Rule(0, None),)
    checkpoints: int = 0
    grace: int = DAY

    def chosen(self, versions: Sequence[Brief]) -> list[Brief]:
        """Return the versions that are kept, of versions in ascending order."""
        if not versions:
            return []
        newest, kept = versions[-1].event_time, {versions[-1]}
        for rule in self.rules:
            young = [
                one for one in versions if rule.age is None or newest - one.event_time <= rule.age
            ]
            # Of equal periods the last one stays in the dictionary.
            last = {one.event_time // rule.period: one for one in young} if rule.period else {}
            kept.update(last.values() if rule.period else young)
        return [one for one in versions if one in kept]

    def ends(self, versions: Sequence[Brief]) -> int:
        """Return how many of the oldest versions are beyond the age of every rule.

        Their manifests are removed, too. Other versions keep theirs, so that the figures and the
        curves of a history stay whole.
        """
        if not versions or any(rule.age is None for rule in self.rules):
            return 0
        most = max(rule.age for rule in self.rules if rule.age is not None)
        newest = versions[-1].event_time
        return next(n for n, one in enumerate(versions) if newest - one.event_time <= most)
