"""Name, hide and merge topics, in a catalogue that lies over the model.

``beam-topics topics --model_store=models --topic_ids=3 --topic_name='Health
care'``

Nothing that was learned changes. The names hold for all versions of a model key, and ``report``
and ``show`` use them. ``--name_topics`` names all topics that nobody named, by documents
(:mod:`beam_topics.model.reporting.names`) or by a function of yours
(:mod:`beam_topics.model.reporting.names`). Without a change the catalogue is printed.
``--roll_back`` takes the digest of an earlier catalogue.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Column

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.catalogue import Catalogue, CatalogueStore, Entry
from beam_topics.model.publishing.manifest import Manifest
from beam_topics.model.reporting.names import mean_length, model_names
from beam_topics.model.reporting.relevance import word_statistics
from beam_topics.model.reporting.shown import Shown
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command
from beam_topics.pipelines.cli.groups import Options
from beam_topics.pipelines.cli.stored import opened
from beam_topics.pipelines.cli.terminal import console, figures, plain, table_of, titled

GROUPS = (
    group.StoreOptions,
    group.FunctionOptions,
    group.ModelVersionOptions,
    group.TopicOptions,
    group.CatalogueOptions,
    group.SignOptions,
    group.LabelledOptions,
    group.RecordOptions,
)
# Earlier catalogues that are listed, and the digits of each.
_EARLIER, _DIGITS = 8, 12
_CHANGES = ("topic_name", "hide", "merge_into")


def topics(options: Options) -> None:
    """Change the catalogue, or print it."""
    models, manifest = opened(options)
    store = CatalogueStore(models.root, models.signatures)
    key, snapshot = manifest.key, models.get_snapshot(manifest)
    digest, catalogue = store.latest(key)
    check(options, manifest, snapshot.topic_count)
    check_naming(options)
    if options.roll_back is not None:
        digest, catalogue = _rolled_back(store, key, options.roll_back)
    elif options.name_topics:
        # Imported here, because everything else needs no Beam.
        from beam_topics.pipelines.graphs.naming import automatic_names

        names = automatic_names(models, manifest, catalogue, options)
        catalogue = catalogue.with_automatic(names)
        digest = store.put(key, catalogue)
    elif options.topic_ids:
        given = options.topic_name, options.hide, options.merge_into
        catalogue = catalogue.changed(options.topic_ids, *given)
        digest = store.put(key, catalogue)
    out = console()
    words = model_names(snapshot, word_statistics(snapshot), mean_length(manifest))
    shown = Shown(catalogue, manifest, snapshot)
    marks = dict(zip(shown.ids, shown.marks, strict=True))
    out.print(_table(digest, catalogue, words, manifest.ids(len(words)), marks))
    earlier = [one[:_DIGITS] for one in store.history(key)[1 : _EARLIER + 1]]
    out.print(plain(f"earlier catalogues, newest first: {' '.join(earlier) or 'none'}"))


def check(options: Options, manifest: Manifest, topics: int) -> None:
    """Refuse options that contradict each other, and topics that do not exist."""
    given = [name for name in _CHANGES if getattr(options, name) is not None]
    if options.topic_ids and not given:
        changes = ", ".join(f"--{name}" for name in _CHANGES)
        allowed = f"topics together with one of {changes}"
        numbers = ",".join(map(str, options.topic_ids))
        raise OptionError("--topic_ids", numbers, allowed, "Say what is to change.")
    if given and not options.topic_ids:
        name = given[0]
        remedy = "Add the numbers of topics, for example --topic_ids=3."
        raise OptionError(
            f"--{name}", getattr(options, name), "nothing without --topic_ids", remedy
        )
    if options.roll_back is not None and options.topic_ids:
        allowed = "nothing with --topic_ids"
        raise OptionError("--roll_back", options.roll_back, allowed, "Leave one of the two out.")
    ids = manifest.ids(topics)
    merged = () if options.merge_into is None else (options.merge_into,)
    for name, numbers in (("topic_ids", options.topic_ids or ()), ("merge_into", merged)):
        for number in numbers:
            if number not in ids:
                allowed = f"topics of version {manifest.version}"
                remedy = "beam-topics topics without a change lists them."
                raise OptionError(f"--{name}", number, allowed, remedy)


def check_naming(options: Options) -> None:
    """Refuse options of names where topics are not named, and changes with ``--name_topics``."""
    given = options.given(["namer", "mixtures", "documents"])
    if not options.name_topics:
        for name, value in given.items():
            shown = value if isinstance(value, str) else ",".join(value)
            allowed = "nothing without --name_topics"
            raise OptionError(f"--{name}", shown, allowed, "Add --name_topics.")
    elif options.topic_ids or options.roll_back is not None:
        allowed = "nothing with --topic_ids or --roll_back"
        raise OptionError("--name_topics", True, allowed, "Do one after the other.")


def _rolled_back(store: CatalogueStore, key: str, digest: str) -> tuple[str, Catalogue]:
    known = store.history(key)
    found = [one for one in known if one.startswith(digest)] if len(digest) >= 6 else []
    if len(set(found)) != 1:
        allowed = "the first 6 digits or more of one of " + (", ".join(known) or "no catalogue")
        raise OptionError("--roll_back", digest, allowed, "Correct the digest.")
    catalogue = store.get(key, found[0])
    return store.put(key, catalogue), catalogue


def _table(
    digest: str | None,
    catalogue: Catalogue,
    words: Sequence[str],
    ids: Sequence[int],
    marked: Mapping[int, str],
) -> Any:
    """Return a table of all topics with their names, their marks and what the catalogue says."""
    roots = catalogue.roots(ids)
    texts = [Column(title, overflow="fold") for title in ("name", "by words", "")]
    table = table_of(*figures("topic"), *texts)
    for topic, root, by_words in zip(ids, roots, words, strict=True):
        entry = catalogue.of(topic)
        marks = _marks(entry, topic, root, marked.get(topic, ""))
        table.add_row(*map(plain, (str(topic), entry.name, by_words, marks)))
    return titled(f"catalogue {digest[:_DIGITS] if digest else 'none yet'}", table)


def _marks(entry: Entry, topic: int, root: int, marked: str) -> str:
    marks = {"hidden": entry.hidden, f"part of {root}": root != topic, "automatic": entry.automatic}
    marks[marked] = bool(marked)
    return ", ".join(mark for mark, holds in marks.items() if holds)


main = command("topics", __doc__, GROUPS, {"model_store": "models"}, topics, graph=False)

if __name__ == "__main__":
    sys.exit(main())
