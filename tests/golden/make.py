"""Make the golden folder of this release: ``python tests/golden/make.py``, or ``make golden``.

The folder ``tests/golden/<release>`` is made anew. Folders of other releases are left alone. The
documents are made of the words below; draws are digests of names, so that every run makes the same
folder on one kind of processor. docs/formats.md says when to run it.
"""

import hashlib
import json
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE.parent)]

from golden_store import (  # noqa: E402
    KEYS,
    LABELLED,
    STORES,
    TOP_WORDS,
    add,
    arithmetic,
    created,
    fit,
    keys_of,
    learn,
    links_of,
    mixtures,
    opened,
    publish,
)

from beam_topics.model import __version__  # noqa: E402

THEMES = (
    ["ship", "harbour", "sailor", "anchor", "cargo", "lighthouse", "captain", "voyage", "compass"],
    ["judge", "verdict", "witness", "court", "appeal", "statute", "lawyer", "trial", "evidence"],
    ["garden", "seed", "orchard", "blossom", "meadow", "gardener", "pruning", "soil", "greenhouse"],
)
SHARED = ["morning", "village", "letter", "river"]
# A day in minutes, documents of a day, and the days that are learned and added.
DAY, A_DAY, LEARNED, ADDED = 1440, 6, range(6), range(6, 8)


def number(name):
    """A draw by its name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")


def document(day, place):
    """A record of one theme; an eighth of its words are shared, and words come in as days pass."""
    name = f"{day}-{place}"
    theme = number(f"{name} theme") % len(THEMES)
    words = []
    for at in range(8 + number(f"{name} length") % 5):
        drawn = number(f"{name} word {at}")
        source = SHARED if drawn % 8 == 0 else THEMES[theme]
        words.append(source[(drawn // 64) % min(len(source), 4 + day)])
    minutes = day * DAY + place * DAY // A_DAY + number(f"{name} time") % 60
    return {
        "id": name,
        "timestamp": 60 * minutes,
        "text": f"The {' '.join(words)}.".capitalize(),
        "label": ("sea", "law", "land")[theme],
        "key": KEYS[place % len(KEYS)],
    }


def write_documents(folder):
    days = {"learned": LEARNED, "added": ADDED, "new": range(8, 9)}
    for name, found in days.items():
        most = 3 if name == "new" else A_DAY
        rows = [document(day, place) for day in found for place in range(most)]
        lines = [json.dumps(row, sort_keys=True) + "\n" for row in rows]
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


def stated_key(stored, folder):
    """Make one key of a store; what is stated of it."""
    learned = stored.documents(folder / "learned.jsonl")
    versions = publish(stored, learn(stored, links_of(stored, learned, added=False)))
    fit(stored, learned)
    newest = stored.store.get_snapshot(versions[-1])
    entries = stored.store.checkpoints(stored.key)
    return {
        "versions": [one.version for one in versions],
        "snapshots": [one.snapshot for one in versions],
        "top_words": newest.top_words(TOP_WORDS),
        "checkpoints": [[one.sequence, one.island, one.digest] for one in entries],
        "states": stored.states(),
        "added": stated_growth(stored, folder),
    }


def stated_growth(stored, folder):
    """What a copy of the store comes to with the added documents."""
    with tempfile.TemporaryDirectory() as workspace:
        root = shutil.copytree(stored.root, Path(workspace, "store"))
        return add(stored.moved(root), folder / "added.jsonl")


def make_store(name, folder):
    """One store; what is stated of it."""
    root, options = folder / "stores" / name, STORES[name]
    keys = {key: stated_key(created(root, key, options), folder) for key in keys_of(name)}
    return {"options": options, "keys": keys}


def make(folder):
    """The whole folder, anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    write_documents(folder)
    stores = {name: make_store(name, folder) for name in STORES}
    labelled = opened(folder / "stores" / LABELLED, "")
    training, new = (labelled.documents(folder / f"{name}.jsonl") for name in ("learned", "new"))
    stated = {
        "release": __version__,
        "arithmetic": arithmetic(),
        "stores": stores,
        "mixtures": mixtures(labelled, training, new),
    }
    for lock in folder.rglob(".lock"):
        lock.unlink()
    text = json.dumps(stated, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    (folder / "stated.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    make(HERE / __version__)
