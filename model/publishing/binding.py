"""Compare settings with those that a part of a model store is bound to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from beam_topics.model import checks, wire
from beam_topics.model.errors import StoreConflictError
from beam_topics.model.options import Option, StoredOption
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.times import duration_text
from beam_topics.model.wire import seal

# For each path in the settings the option behind it; see model.options.Record.flags.
Flags = Mapping[str, StoredOption]
_SHOWN = 5
_MOST_CHARACTERS = 80


@dataclass(frozen=True)
class Binding:
    """The settings that the first version of a key binds its part of a store to.

    Attributes:
        digest: The digest of the settings.
        settings: The settings.
        flags: The options behind the settings, for messages. See
            :meth:`beam_topics.model.options.Record.flags`.
    """

    digest: str
    settings: dict[str, Any]
    flags: Flags = field(default_factory=dict)

    @cached_property
    def line(self) -> bytes:
        """The contents of ``settings.json``; all keys of a run have the same, and it is long."""
        return seal({"digest": self.digest, "settings": self.settings})


def check_bound(bound: dict[str, Any], binding: Binding, name: str) -> None:
    """Refuse settings other than those that a store is bound to.

    Fields of the file beside the settings and their digest are ignored (docs/formats.md).

    Args:
        bound: The contents of the file of settings.
        binding: The settings of this run.
        name: The name of the file.

    Raises:
        StoreConflictError: The settings differ; the error lists the first differences.
        DamagedDataError: The file holds no settings.
    """
    if not checks.fits(bound.get("settings"), dict[str, Any]):
        checks.refuse(
            f"field settings of {name}", repr(bound.get("settings")), "an object with settings"
        )
    same = wire.canonical_json(bound["settings"]) == wire.canonical_json(binding.settings)
    if same and bound.get("digest") == binding.digest:
        return
    theirs, ours = _flat(bound["settings"]), _flat(binding.settings)
    listed = "; ".join(_differences(theirs, ours, binding.flags)[:_SHOWN])
    digests = f"{bound.get('digest')} there, {binding.digest} here: another release"
    listed = listed or f"they are equal, but their digests are not ({digests})"
    raise StoreConflictError(
        f"{name} was written with other settings: {listed}. Give the same settings, or use an empty"
        " model store."
    )


def check_rhythm(newest: Manifest, learned: int, every: tuple[str, int], name: str) -> None:
    """Refuse a run that would make versions again that were published at other times.

    Args:
        newest: The newest version of the store.
        learned: The sequence of the last version that the run does not make again; 0 if it starts
            at the beginning.
        every: How often the run publishes, see
            :class:`beam_topics.model.learner_log.options.LearnOptions`.
        name: The name of the part of the store, for messages.

    Raises:
        StoreConflictError: The run begins before the newest version, and publishes at other times.
    """
    theirs = list(newest.publish_every.items())
    if newest.sequence <= learned or theirs in ([], [every]):
        return
    raise StoreConflictError(
        f"{name} has versions up to {newest.version} that were published with --publish_every="
        f"{rhythm_text(*theirs[0])}, and this run would make them again with --publish_every="
        f"{rhythm_text(*every)}. Give the same --publish_every. To learn what the input"
        " holds beyond those that were learned, add --add_documents, with any --publish_every. For"
        " a new run, give an empty model store."
    )


def rhythm_text(kind: str, every: int) -> str:
    """Return how often versions are published as users write it."""
    return duration_text(every) if kind == "period" else f"{every}windows"


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested settings under dotted names, with the values as JSON.

    In JSON a tuple and a list are equal.
    """
    flat: dict[str, str] = {}
    for name, value in values.items():
        flat |= (
            _flat(value, f"{prefix}{name}.")
            if isinstance(value, dict)
            else {f"{prefix}{name}": wire.canonical_json(value)}
        )
    return flat


def _differences(theirs: dict[str, str], ours: dict[str, str], flags: Flags) -> list[str]:
    """Return what differs, named by option.

    If the kind of a part differs, the fields of the part are left out.
    """
    for at, (_, absent) in flags.items():
        if absent is not None and not at.endswith(".kind"):
            absent = wire.canonical_json(absent)
            theirs, ours = {at: absent, **theirs}, {at: absent, **ours}
    differing = [at for at in sorted(theirs | ours) if theirs.get(at) != ours.get(at)]
    parts = tuple(at.removesuffix("kind") for at in differing if at.endswith(".kind"))
    shown = [
        at
        for at in differing
        if not any(at.startswith(part) and at != f"{part}kind" for part in parts)
    ]
    return [_difference(at, theirs.get(at), ours.get(at), flags) for at in shown]


def _difference(at: str, theirs: str | None, ours: str | None, flags: Flags) -> str:
    option = flags[at].option if at in flags else None
    name = at if option is None else option.flag
    return f"{name} is {_shown(theirs, option)} there and {_shown(ours, option)} here"


def _shown(text: str | None, option: Option | None) -> str:
    """Return a value for a message: as users write it, and short, as a vocabulary can be long."""
    if text is None:
        return "absent"
    if option is not None and option.unit and text.isdecimal():
        return str(option.shown(int(text)))
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 3] + "..."
