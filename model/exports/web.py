"""Topics as one JSON object for a page of the web.

``version``, ``key``, ``event_time`` (ISO 8601), ``documents`` and ``tokens`` are of the version.
``topics`` has for each topic ``topic``, ``name``, ``share``, ``hidden``, ``words`` (each with
``word``, ``count`` and ``probability``) and ``course``: its share in what came in each of
``periods`` (their middles, ISO 8601); null where nothing is known.
"""

from __future__ import annotations

import json
import math

from model.exports import Exported
from model.exports.tables import columns
from model.reporting.relevance import topic_shares
from model.times import to_iso

# The most periods of a course.
PERIODS = 200


def to_json(exported: Exported, words: int | None = None) -> bytes:
    """Return the object as JSON in UTF-8.

    Args:
        exported: the model.
        words: the number of words of each topic; None for all.
    """
    manifest, snapshot = exported.manifest, exported.snapshot
    course = exported.shown.curves(exported.history or [manifest], PERIODS)
    shares, table = topic_shares(snapshot).tolist(), columns(exported, words)
    topics = [
        {
            "topic": topic,
            "name": exported.names.get(topic, ""),
            "share": shares[place],
            "hidden": exported.shown.hidden[place],
            "words": [],
            "course": [
                None if math.isnan(one) else one for one in course.shares[:, place].tolist()
            ],
        }
        for place, topic in enumerate(exported.ids)
    ]
    names, by_id = ("word", "count", "probability"), dict(zip(exported.ids, topics, strict=True))
    for topic, *values in zip(table["topic"], *(table[name] for name in names), strict=True):
        by_id[topic]["words"].append(dict(zip(names, values, strict=True)))
    return json.dumps(
        {
            "version": manifest.version,
            "key": manifest.key,
            "event_time": to_iso(manifest.event_time),
            "documents": manifest.documents,
            "tokens": manifest.tokens,
            "periods": [to_iso(time) for time in course.times()],
            "topics": topics,
        },
        ensure_ascii=False,
        allow_nan=False,
    ).encode()
