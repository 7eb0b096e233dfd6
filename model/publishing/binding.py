"""The settings that a part of a model store is bound to, and how others differ from them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from model import checks, wire
from model.errors import StoreConflictError

# For each path in the settings the option behind it, and what its absence means; see
# model.options.Record.flags.
Flags = Mapping[str, tuple[str, Any]]
NO_FLAGS: Flags = MappingProxyType({})
_SHOWN = 5
_MOST_CHARACTERS = 80


def check_bound(
    bound: dict[str, Any], settings_digest: str, settings: dict[str, Any], flags: Flags, name: str
) -> None:
    """Refuse other settings than those that a store is bound to.

    Fields of the file beside the settings and their digest are ignored (docs/formats.md).

    Args:
        bound: what the file of settings holds. settings_digest, settings: of this run. name: of the
        file. flags: for messages, see :meth:`model.options.Record.flags`.

    Raises:
        StoreConflictError: the settings differ; the error lists the first of them.
        DamagedDataError: the file holds no settings.
    """
    if not checks.fits(bound.get("settings"), dict[str, Any]):
        checks.refuse(
            f"field settings of {name}", repr(bound.get("settings")), "an object with settings"
        )
    same = wire.canonical_json(bound["settings"]) == wire.canonical_json(settings)
    if same and bound.get("digest") == settings_digest:
        return
    listed = "; ".join(_differences(_flat(bound["settings"]), _flat(settings), flags)[:_SHOWN])
    digests = f"{bound.get('digest')} there, {settings_digest} here: another release"
    listed = listed or f"they are equal, but their digests are not ({digests})"
    raise StoreConflictError(
        f"{name} was written with other settings: {listed}. Give the same settings, or use an empty"
        " model store."
    )


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested settings by dotted names, the values as JSON (in which a tuple and a list are the
    same).
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
    """What is not alike, named by option; where the kind of a part differs, its fields are left
    out.
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
    names = {at: flags[at][0] if at in flags else at for at in shown}
    return [
        f"{names[at]} is {_short(theirs.get(at))} there and {_short(ours.get(at))} here"
        for at in shown
    ]


def _short(text: str | None) -> str:
    """A value for a message: a vocabulary can be very long."""
    return (
        "absent"
        if text is None
        else text
        if len(text) <= _MOST_CHARACTERS
        else text[: _MOST_CHARACTERS - 3] + "..."
    )
