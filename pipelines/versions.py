"""List, pin, compare, sign, roll back and expire the versions of a model store.

``beam-topics versions list --model_store=models``

``pin`` and ``unpin`` take ``--model_version``; no expiry removes a version that is pinned. ``diff``
compares the first words of the topics of two versions. ``sign`` signs all versions, checkpoints,
``LATEST``, the catalogue and classifiers with ``--sign``; with ``--trust``, only where a trusted
key has signed all of them. ``rollback`` makes an earlier version the newest one. ``expire`` removes
what ``--keep`` does not keep; with ``--dry_run`` it lists that only. Stop the job that publishes
before a rollback. All others may run alongside it.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.expiry import Expiry, Removal, pin, pinned, unpin
from beam_topics.model.publishing.local_files import blobs_at
from beam_topics.model.publishing.settings import StoreSettings, VersionSettings
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.succession import TOP_WORDS, changes
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import OptionGroup, Options, settings_of
from beam_topics.pipelines.cli.invocation import shown
from beam_topics.pipelines.cli.stored import opened, store_of
from beam_topics.pipelines.cli.terminal import change_table, console, day, figure_table

_WHICH = (group.StoreOptions, group.ModelVersionOptions)
# The options of all actions.
GROUPS = (*_WHICH, group.KeepOptions)


def list_versions(options: Options) -> None:
    """Print a line for each version that LATEST leads to, and for each other one that is pinned."""
    store, last = opened(options)
    pins = pinned(blobs_at(store.root), last.key)
    history = store.up_to(last)
    listed = {one.version for one in history}
    apart = [found for name in sorted(pins - listed) if (found := store.find(last.key, name))]
    rows = [
        (
            one.version,
            day(one.until),
            one.documents,
            one.words,
            "yes" if store.has_model(one) else "expired",
            "yes" if one.version in pins else "",
        )
        for one in (*apart, *history)
    ]
    columns = ("version", "up to", "documents", "words", "model", "pinned")
    console().print(figure_table(f"{len(rows)} versions", columns, rows))
    if history[0].parent is not None:
        print(f"Versions before {history[0].version} have expired.")


def pin_version(options: Options) -> None:
    """Pin a version."""
    store, chosen = opened(options)
    pin(blobs_at(store.root), chosen)
    print(f"version {chosen.version} is pinned")


def unpin_version(options: Options) -> None:
    """Unpin a version."""
    store, chosen = opened(options)
    unpin(blobs_at(store.root), chosen.key, chosen.version)
    print(f"version {chosen.version} is not pinned")


def diff(options: Options) -> None:
    """Print the words that entered and left the first words of each topic between two versions.

    They are a version and its parent, or those of ``--model_version=OLDER..NEWER``.
    """
    older, _, newer = settings_of(options, VersionSettings).version.rpartition("..")
    store, after = opened(Options(**{**vars(options), "model_version": newer}))
    base = older or after.parent
    if base is None:
        allowed, remedy = "a version with a parent, or OLDER..NEWER", "Name a later version."
        raise OptionError("--model_version", after.version, allowed, remedy)
    before = store.manifest(after.key, base)
    snapshot = store.get_snapshot(after)
    ids = after.ids(snapshot.topic_count)
    changed = changes(store.get_snapshot(before), snapshot)
    found = [{**one, "topic": ids[one["topic"]]} for one in changed]
    said = f"from {before.version} to {after.version}: {len(found)} topics with other first"
    console().print(change_table(f"{said} {TOP_WORDS} words, and ranks now", found))


def sign(options: Options) -> None:
    """Sign the versions and checkpoints of each key with --sign; other signatures stay."""
    store, chosen = store_of(options), settings_of(options, VersionSettings).key
    for key in [chosen] if chosen else store.keys():
        print(f"{store.sign(key)} files of key {key!r} are signed")


def roll_back(options: Options) -> None:
    """Make a version the newest one."""
    store, chosen = opened(options)
    removed = store.roll_back(chosen)
    print(f"version {chosen.version} is the newest one; {len(removed)} later checkpoints removed")


def expire(options: Options) -> None:
    """Remove what --keep does not keep, of each key; with --dry_run list it only."""
    for key, expiry, plan in _plans(options):
        print(f"{expiry.carry_out(plan)} files of key {key!r} were removed")


def list_expired(options: Options) -> None:
    """List what --keep does not keep, of each key."""
    for key, _, plan in _plans(options):
        for removal in plan:
            print(removal.path)
        print(f"{len(plan)} files of key {key!r} would be removed")


def _plans(options: Options) -> Iterator[tuple[str, Expiry, list[Removal]]]:
    """Yield each key with what can go of it."""
    where, key = settings_of(options, StoreSettings), settings_of(options, VersionSettings).key
    store, expiry = ModelStore(where.root), Expiry(where.root, options.keep, where.trust)
    for name in [key] if key else store.keys():
        yield name, expiry, expiry.plan(name)


def _action(
    name: str, run: Callable[[Options], None], *groups: OptionGroup, **more: str
) -> Callable[[Sequence[str] | None], int]:
    prog, required = f"versions {name}", {"model_store": "models", **more}
    return command(prog, str(run.__doc__), (*_WHICH, *groups), required, run, graph=False)


_EXPIRE = {"keep": "versions:30d,checkpoints:3"}
ACTIONS = {
    "list": _action("list", list_versions),
    "pin": _action("pin", pin_version),
    "unpin": _action("unpin", unpin_version),
    "diff": _action("diff", diff),
    "sign": _action("sign", sign, group.SignOptions, sign="private.pem"),
    "rollback": _action("rollback", roll_back, group.SignOptions),
    "expire": _action("expire", expire, group.KeepOptions, **_EXPIRE),
}
# Beam has an option of this name, which takes a value.
_DRY_RUN = "--dry_run"
_DRY = _action("expire", list_expired, group.KeepOptions, **_EXPIRE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the action that the first argument names, and return the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    if given[:1] == ["expire"] and _DRY_RUN in given:
        return _DRY([one for one in given[1:] if one != _DRY_RUN])
    if given and given[0] in ACTIONS:
        return ACTIONS[given[0]](given[1:])
    asked = not given or given[0] in ("-h", "--help", "--help=all")
    out = sys.stdout if asked else sys.stderr
    if not asked:
        print(f"{shown('versions')}: {given[0]!r} was given", end="; ", file=out)
    said = f"the first argument is one of {', '.join(ACTIONS)}. Each has --help."
    if not asked and (Path(given[0]) / "models").is_dir():
        said += f" For example: {shown('versions')} list {shlex.join(given)}"
    print(said, file=out)
    return 0 if asked else 2


if __name__ == "__main__":
    sys.exit(main())
