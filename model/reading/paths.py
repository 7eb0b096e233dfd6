r"""Get the value of a field, or of a path through nested records.

A path joins names by points. ``[]`` after a name stands for each element of a list, and ``[0]`` for
the first one. A field whose own name has the points takes precedence, at each level. Texts of
several elements are joined, each on a line of its own; other values of several elements are a list.

>>> record = {"payload": {"comment": {"body": "A ship"}}, "parts": [{"text": "a"}, {"text": "b"}]}
>>> value_of(record, "payload.comment.body"), value_of(record, "parts[].text")
('A ship', 'a\nb')
>>> value_of({"a.b": 1, "a": {"b": 2}}, "a.b"), value_of(record, "payload.review.body")
(1, None)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Record = Mapping[str, Any]

EACH = "[]"
# The deepest path, the most that are found, and the elements of a list that are looked at.
_DEEPEST, _MOST_PATHS, _ELEMENTS = 6, 500, 20
# How the process that reads tables writes the times within a record.
_TIMES = ("datetime", "date", "Timestamp")


def value_of(record: Record, name: str) -> Any:
    """Return the value of a field or a path of a record; None if it has none."""
    if name in record or not is_path(name):
        return record.get(name)
    found = [value for value in values_of(record, name) if value is not None]
    if EACH not in name or len(found) < 2:
        return _plain(found[0]) if found else None
    return "\n".join(found) if all(isinstance(one, str) for one in found) else found


def is_path(name: str) -> bool:
    """Return whether a name may be a path."""
    return "." in name or EACH in name or name.endswith("]")


_PLACE = re.compile(r"\[([0-9]{1,9})\]")


def root_of(name: str) -> str:
    """Return the outermost field of a path."""
    return name.partition(".")[0].partition("[")[0]


def values_of(value: Any, path: str) -> Iterator[Any]:
    """Yield what a path leads to from a value on."""
    if path.startswith(EACH):
        rest = path.removeprefix(EACH).removeprefix(".")
        for one in value if isinstance(value, list) else ():
            yield from values_of(one, rest) if rest else (one,)
    elif isinstance(value, list) and (place := _PLACE.match(path)):
        rest = path[place.end() :].removeprefix(".")
        for one in value[int(place[1]) : int(place[1]) + 1]:
            yield from values_of(one, rest) if rest else (one,)
    elif isinstance(value, dict):
        if path in value:
            yield value[path]
            return
        at = [place for place, mark in enumerate(path) if mark in ".["]
        # A name may hold points itself, so the longest one comes first.
        for end in reversed(at):
            if path[:end] in value:
                found = list(values_of(value[path[:end]], path[end:].removeprefix(".")))
                yield from found
                if found:
                    return


def _plain(value: Any) -> Any:
    if isinstance(value, dict) and len(value) == 1:
        return next((value[name] for name in _TIMES if name in value), value)
    return value


def paths_of(records: Iterable[Record]) -> list[str]:
    """Return the paths below the top level of records that lead to plain values.

    They are of bounded depth, and the most frequent ones where there are very many.
    """
    found: Counter[str] = Counter()
    for record in records:
        below = (name for field, value in record.items() for name in _below(field, value, 1))
        found.update(dict.fromkeys(below, 1))
    return [name for name, _ in found.most_common(_MOST_PATHS)]


def _below(name: str, value: Any, depth: int) -> Iterator[str]:
    value = _plain(value)
    if isinstance(value, dict) and depth < _DEEPEST:
        for field, inner in value.items():
            yield from _below(f"{name}.{field}", inner, depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST:
        for inner in value[:_ELEMENTS]:
            yield from _below(f"{name}{EACH}", inner, depth + name.endswith(EACH))
    elif (depth > 1 or name.endswith(EACH)) and not isinstance(value, (dict, list, type(None))):
        yield name
