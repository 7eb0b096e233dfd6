"""The value of ``--keep``: which versions and checkpoints stay in a model store.

>>> keep("versions:1d,1d/30d,30d/all,checkpoints:3").checkpoints
3
>>> keep("versions:30d").rules
(Rule(period=0, age=2592000000000),)
"""

from __future__ import annotations

import argparse

from model.publishing.keeping import Keep, Rule
from pipelines.cli.values import duration, positive

KEEP_HELP = (
    "what stays when others expire: versions:30d keeps those of the last 30 days;"
    " versions:1d,1d/30d,30d/all keeps all of a day, one a day of 30 days, and one in 30 days for"
    " ever; checkpoints:3 keeps three points to continue from; grace:2d keeps what was written or"
    " used up to two days before the newest version (1d where it is absent). Nothing expires"
    " without this option"
)
_ALLOWED = (
    "parts with commas between them: versions:RULE,RULE,..., checkpoints:N and grace:TIME. A rule"
    " is AGE (all versions up to that age), PERIOD/AGE (one of each period), or all or PERIOD/all"
    " (of any age), for example --keep=versions:1d,1d/30d,30d/all,checkpoints:3"
)
_KINDS = ("versions", "checkpoints", "grace")


def keep(text: str) -> Keep:
    """Parse the value of ``--keep``.

    Raises:
        argparse.ArgumentTypeError: the text is not such a value.
    """
    found: dict[str, list[str]] = {}
    kind = ""
    for part in text.split(","):
        name, colon, value = part.partition(":")
        if colon:
            if name not in _KINDS or name in found:
                raise _wrong(text, f"{name}: is {'there twice' if name in found else 'unknown'}")
            kind = name
        if not kind or (kind != "versions" and kind in found):
            raise _wrong(text, f"{part!r} is not understood")
        found.setdefault(kind, []).append(value if colon else part)
    try:
        made = Keep(tuple(_rule(one) for one in found.get("versions", ["all"])))
        for points in found.get("checkpoints", ()):
            made = made._replace(checkpoints=positive(points))
        for time in found.get("grace", ()):
            made = made._replace(grace=_time(time))
    except argparse.ArgumentTypeError as error:
        raise _wrong(text, str(error)) from error
    return made


def _rule(text: str) -> Rule:
    period, slash, age = text.rpartition("/")
    return Rule(duration(period) if slash else 0, None if age == "all" else duration(age))


def _time(text: str) -> int:
    """Parse a time of grace, which may be nothing."""
    return 0 if text == "0" else duration(text)


def _wrong(text: str, what: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{text!r} was given ({what}); allowed is {_ALLOWED}.")
