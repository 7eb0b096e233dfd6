"""A small store with mixtures and documents for reports, and hostile texts in all of them."""

import json

import numpy as np
from made import manifest_of, snapshot_of

from beam_topics.model.publishing.events import Event
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.times import to_iso
from beam_topics.model.words.settings import TokeniserSettings

DAY = 86_400_000_000
TOPICS = 5
HOSTILE = (
    "<script>document.title='hacked'</script>",
    "</script><img src=x onerror=alert(1)>",
    "\u202egnirts",
    "x" * 10_000,
    "שלום",
    "a&amp;b\u2028c",
    "{{ 7 * 7 }}",
)
WORDS = (*HOSTILE, *(f"word{n}" for n in range(33)))


def counts_of(seed, topics=TOPICS, words=40):
    generator = np.random.default_rng(seed)
    found = np.floor(generator.gamma(0.3, 30.0, (words, topics)))
    found[: len(HOSTILE)] += 5.0
    return found


def published(root, versions=6, topics=TOPICS, words=WORDS, step=30 * DAY):
    """A store whose versions are 30 days apart."""
    store, parent = ModelStore(str(root)), None
    generator = np.random.default_rng(7)
    settings = {
        "tokeniser": TokeniserSettings(stop_words="none").to_json(),
        "learner": {"kind": "particle-filter"},
    }
    for number in range(1, versions + 1):
        snapshot = snapshot_of(counts_of(number, topics, len(words)), words, sequence=number)
        noted = Event("change", 9, 99, [1], "shares", {}, time=number * step)
        manifest = manifest_of(
            number,
            parent,
            event_time=number * step,
            snapshot=store.put_snapshot(snapshot),
            settings=settings,
            new_words=[{"topic": 1, "words": [words[0]], "came": [9.0], "had": [number - 1.0]}],
            islands=1,
            topic_tokens=generator.integers(1, 100, topics).astype(float).tolist(),
            events=[noted.to_json()] if number % 2 else [],
        )
        parent = store.publish(manifest).version
    return store


def trends_file(folder, start, end, key="", name="a"):
    """A file of trends with a row of one window; times are in seconds."""
    folder.mkdir(exist_ok=True)
    times = {"window_start": start, "window_end": end, "part": end}
    figures = {"documents": 2, "tokens": 9.0, "mean_share": 0.5, "typical": []}
    row = {"key": key, "group": "", "topic": 0, **figures}
    row |= {what: to_iso(time * 1_000_000) for what, time in times.items()}
    (folder / f"trends-{name}.jsonl").write_text(f"{json.dumps(row)}\n", encoding="utf-8")


def listed(shares):
    """The fields of a row for shares by topic."""
    pairs = sorted(enumerate(shares), key=lambda pair: -pair[1])
    topics = [{"topic": topic, "share": share} for topic, share in pairs if share]
    return {"topic": topics[0]["topic"] if topics else None, "topics": topics}


def shares_of(row, topics=None):
    """The shares of a row, in the order of the ids of topics."""
    found = {one["topic"]: one["share"] for one in row["topics"]}
    return [found.get(topic, 0.0) for topic in (range(TOPICS) if topics is None else topics)]


def mixture_rows(store, count=60, topics=TOPICS, step=30 * DAY):
    """JSON lines of mixtures, by the versions of the store in turn."""
    generator = np.random.default_rng(3)
    versions = [manifest.version for manifest in store.manifests("")]
    rows = []
    for number in range(count):
        known = int(generator.integers(5, 60))
        rows.append(
            {
                "key": "",
                "id": f"{HOSTILE[number % len(HOSTILE)]} {number}",
                "timestamp": to_iso((number * step * len(versions)) // count),
                "model_version": versions[number % len(versions)],
                "method": "gibbs3",
                **listed(generator.dirichlet(np.full(topics, 0.4)).tolist()),
                "words_known": known,
                "tokens": known + 3,
            }
        )
    return rows


def written(folder, rows):
    """A folder with the rows in two files, one of which is repeated."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row) for row in rows]
    half = len(lines) // 2
    for name, some in (("a", lines[:half]), ("b", lines[half:]), ("c", lines[:half])):
        (folder / f"mixtures-{name}.jsonl").write_text("\n".join(some) + "\n")
    return folder


def documents_of(path, rows):
    """A file of the documents of mixtures, with hostile texts."""
    made = [
        {
            "id": row["id"],
            "timestamp": row["timestamp"],
            "text": f"{HOSTILE[n % len(HOSTILE)]}\nmore of it",
            "label": HOSTILE[0],
        }
        for n, row in enumerate(rows)
    ]
    path.write_text("\n".join(map(json.dumps, made)) + "\n")
    return path


def trends_of(folder, windows=20, burst=1, key="", start=0, group=""):
    """Write rows of days of 100 documents with even topics; the last has a burst of one topic."""
    folder.mkdir(exist_ok=True)
    rows = []
    for day in range(start, start + windows):
        times = {"window_start": to_iso(day * DAY), "window_end": to_iso((day + 1) * DAY)}
        is_last = day == start + windows - 1
        for topic in [*range(TOPICS), None]:
            share = 0.0 if topic is None else 0.15 + (topic + day) % 2 * 0.02
            share = (0.6 if topic == burst else 0.1) if is_last and topic is not None else share
            one = {"id": f"{HOSTILE[0]} {day}", "timestamp": times["window_start"], "share": 1}
            rows.append(
                {"key": key, "group": group, "topic": topic, "documents": 100, "mean_share": share,
                 "tokens": 9.0, "typical": [one], "part": times["window_end"], **times}
            )  # fmt: skip
    return _whole(folder / f"trends-{start}{key}{len(group)}.jsonl", rows)


def _whole(path, rows):
    """Write rows; the file has its name when it has all of them, as the files of a run do."""
    part = path.with_suffix(".part")
    part.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return part.rename(path)


def stories_of(folder):
    """Write rows of stories, two of them of the last window."""
    folder.mkdir(exist_ok=True)
    rows = [
        {
            "key": "",
            "window_end": to_iso(end * DAY),
            "story": f"{HOSTILE[1]} {n}",
            "first": to_iso(2 * DAY),
            "documents": 30,
            "came": came,
            "topics": [{"topic": 1, "documents": came}, {"topic": 999, "documents": 1}],
            "words": [HOSTILE[0], "flood"],
            "document_ids": [f"{HOSTILE[4]} 4"],
        }
        for n, (end, came) in enumerate([(3, 20), (4, 2), (4, 9), (4, 9)])
    ]
    rows[3]["story"] = rows[2]["story"]
    _whole(folder / "stories-1.jsonl", rows)
