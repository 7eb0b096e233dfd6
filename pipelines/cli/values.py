"""Parsers of option values: durations, publications, what is kept, numbers, webhooks.

A parser raises ``argparse.ArgumentTypeError`` for a text of another form.

>>> duration("15min")
900000000
>>> publication("4windows")
Publication(kind='windows', every=4)
>>> speed("3600x")
3600.0
>>> keep("versions:1d,1d/30d,30d/all,checkpoints:3").checkpoints
3
>>> choices(("flat", "urn"))
'flat or urn'
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from beam_topics.model.errors import OptionError
from beam_topics.model.publishing.settings import Keep, Publication, Rule
from beam_topics.model.reporting.webhook import OWN, SECRET, SLACK
from beam_topics.model.settings.options import MEGABYTE, names_in
from beam_topics.model.times import DURATION_UNITS

_PART = re.compile(r"(\d+)(w|d|h|min|ms|us|s)")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")

DURATION = "a length of time such as 15min, 1h, 1h30min, 7d or 52w (units: w, d, h, min, s, ms, us)"


def _wrong(
    text: str, allowed: str, remedy: str = "Correct the value."
) -> argparse.ArgumentTypeError:
    said = f"{text!r} was given; allowed is {allowed}. {remedy}"
    return argparse.ArgumentTypeError(said.rstrip())


def duration(text: str) -> int:
    """Return the microseconds of a length of time such as ``1h30min``."""
    if not _WHOLE.fullmatch(text):
        raise _wrong(text, DURATION, "A number needs its unit.")
    total = sum(int(number) * DURATION_UNITS[unit] for number, unit in _PART.findall(text))
    if not 0 < total < 2**62:
        raise _wrong(text, f"{DURATION}, above nothing and below 100,000 years", "")
    return total


def durations(text: str) -> tuple[int, ...]:
    """Return the microseconds of lengths with commas; 0 for ``none``, and none for ``auto``."""
    if text == "auto":
        return ()
    parts = (part.strip() for part in text.split(","))
    return tuple(0 if part == "none" else duration(part) for part in parts)


def publication(text: str) -> Publication:
    """Parse ``30d`` as a period of event time, and ``4windows`` as a number of windows."""
    if found := re.fullmatch(r"([1-9]\d*)windows?", text):
        return Publication("windows", int(found[1]))
    try:
        return Publication("period", duration(text))
    except argparse.ArgumentTypeError as error:
        raise _wrong(text, f"a number of windows such as 4windows, or {DURATION}") from error


def speed(text: str) -> float:
    """Parse event seconds in one second: ``3600x``, or ``0.5x``."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)x", text)
    if found is None or not 0 < float(found[1]) < float("inf"):
        raise _wrong(text, "a number above 0 with an x, such as 3600x")
    return float(found[1])


def patterns(text: str) -> list[str]:
    """Parse paths or globs, separated by commas."""
    return _parts(text, "paths or globs", "Name the files.")


def names(text: str) -> list[str]:
    """Parse names, separated by commas."""
    return _parts(text, "names", "Give at least one.")


def words(text: str) -> tuple[str, ...]:
    """Parse words, separated by commas; a repeated word counts once."""
    return tuple(dict.fromkeys(_parts(text, "words", "Name the words.")))


def _parts(text: str, what: str, remedy: str) -> list[str]:
    found = names_in(text)
    if not found:
        raise _wrong(text, f"one or more {what}, separated by commas", remedy)
    return found


def whole(text: str) -> int:
    """Parse a whole number, for example 200000 or 200_000."""
    if not re.fullmatch(r"[+-]?\d[\d_]*", text):
        raise _wrong(text, "a whole number")
    return int(text.replace("_", ""))


def topics(text: str) -> tuple[int, ...]:
    """Parse ids of topics, separated by commas."""
    found = [whole(part) for part in _parts(text, "whole numbers", "Name the topics.")]
    return tuple(dict.fromkeys(found))


def positive(text: str) -> int:
    """Parse a whole number of 1 or more."""
    if (number := whole(text)) < 1:
        raise _wrong(text, "a whole number of 1 or more")
    return number


def megabytes(text: str) -> int:
    """Return the bytes of a whole number of megabytes, 1 or more."""
    return positive(text) * MEGABYTE


def or_word(parser: Callable[[str], Any], word: str) -> Callable[[str], Any]:
    """Return a parser that takes one word as well as what another parser takes."""

    def parse(text: str) -> Any:
        try:
            return text if text == word else parser(text)
        except argparse.ArgumentTypeError as error:
            raise argparse.ArgumentTypeError(f"{error} Or give {word}.") from error

    return parse


def number(text: str) -> float:
    """Parse a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < float("inf"):
        raise _wrong(text, "a number")
    return value


def numbers(text: str) -> tuple[float, ...]:
    """Parse finite numbers, separated by commas."""
    return tuple(number(part.strip()) for part in text.split(","))


def switch(text: str) -> bool:
    """Parse ``true`` or ``false``, as a template's launcher writes what may stand alone."""
    if text not in ("true", "false"):
        raise _wrong(text, "true or false", "Leave the value out for true.")
    return text == "true"


def choices(allowed: Sequence[str]) -> str:
    """Return the values of an option as a phrase for a help text."""
    return f"{', '.join(allowed[:-1])} or {allowed[-1]}" if allowed[1:] else allowed[0]


def written(value: Any) -> str:
    """Return a value as the command line writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return str(value)


_KEPT = (
    "parts with commas between them: versions:RULE,RULE,..., checkpoints:N and grace:TIME. A rule"
    " is AGE (all versions up to that age), PERIOD/AGE (one of each period), or all or PERIOD/all"
    " (of any age), for example --keep=versions:1d,1d/30d,30d/all,checkpoints:3"
)
_KEEPS = ("versions", "checkpoints", "grace")


def keep(text: str) -> Keep:
    """Parse the value of ``--keep``."""
    found: dict[str, list[str]] = {}
    kind = ""
    for part in text.split(","):
        name, colon, value = part.partition(":")
        if colon:
            if name not in _KEEPS or name in found:
                raise _not_kept(text, f"{name}: is {'there twice' if name in found else 'unknown'}")
            kind = name
        if not kind or (kind != "versions" and kind in found):
            raise _not_kept(text, f"{part!r} is not understood")
        found.setdefault(kind, []).append(value if colon else part)
    try:
        made = Keep(tuple(_rule(one) for one in found.get("versions", ["all"])))
        for points in found.get("checkpoints", ()):
            made = made._replace(checkpoints=positive(points))
        for time in found.get("grace", ()):
            made = made._replace(grace=0 if time == "0" else duration(time))
    except argparse.ArgumentTypeError as error:
        raise _not_kept(text, str(error)) from error
    return made


def _rule(text: str) -> Rule:
    period, slash, age = text.rpartition("/")
    return Rule(duration(period) if slash else 0, None if age == "all" else duration(age))


def _not_kept(text: str, what: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{text!r} was given ({what}); allowed is {_KEPT}.")


def is_webhook(place: str | None) -> bool:
    """Return whether a place is the address of a webhook.

    >>> is_webhook("https://alarms.example/topics"), is_webhook("kafka:topics")
    (True, False)
    """
    return (place or "").startswith(("http://", "https://"))


def check_webhook(option: str, url: str) -> None:
    """Check the address of a webhook.

    Raises:
        OptionError: it cannot be used, or has a secret.
    """
    example = f"Correct it, for example {option}=https://alarms.example/topics."
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or port == 0 or not url.isascii() or not url.isprintable() or " " in url:
        raise OptionError(option, url, "https:// with a host, a port and a path", example)
    shown = f"{parts.scheme}://{host}/..."
    if parts.scheme == "http" and host not in OWN:
        raise OptionError(option, shown, "https://, or http://localhost", example)
    if "@" in parts.netloc:
        raise OptionError(option, shown, "an address without a user and a password", example)
    if host == SLACK and url.rstrip("/") != f"https://{SLACK}":
        remedy = f"Its address is a secret: put it into the environment variable {SECRET}."
        raise OptionError(option, shown, f"https://{SLACK} alone", remedy)
