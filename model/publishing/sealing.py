"""Sealed lines: canonical JSON that contains a ``sha256`` of the rest.

The digest is checked before anything else is used:

>>> line = seal({"a": 1})
>>> unseal(line, "x.json")
{'a': 1}
>>> unseal(line.replace(b"1", b"2", 1), "x.json")  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
model.errors.DamagedDataError: x.json does not have the content that it was written with; ...
"""

from __future__ import annotations

import hashlib
from typing import Any

from model import checks, wire
from model.errors import DamagedDataError

_FIELD = "sha256"


def seal(values: dict[str, Any]) -> bytes:
    """Return one line of JSON that contains its own digest in a field ``sha256``."""
    text = wire.canonical_json(values)
    # Settings are long and stand before the digest: only fields behind it are written again.
    behind = wire.canonical_json({name: values[name] for name in values if name > _FIELD})[1:]
    before = text[: -len(behind)]
    begin = before if before.endswith(("{", ",")) else f"{before},"
    comma = "" if behind == "}" else ","
    return f'{begin}"{_FIELD}":"{_digest_of(text)}"{comma}{behind}\n'.encode()


def unseal(data: bytes, name: str) -> dict[str, Any]:
    """Return the values of a sealed line.

    Args:
        data: The line.
        name: The name of the file, for messages.

    Raises:
        DamagedDataError: The digest is missing or wrong.
    """
    damaged = f"{name} does not have the content that it was written with; restore it from a copy"
    try:
        values = checks.parse_json(data, name)
    except DamagedDataError as error:
        raise DamagedDataError(f"{damaged}: {error}") from error
    if isinstance(values, dict):
        digest = values.pop(_FIELD, None)
        if isinstance(digest, str) and (
            _digest_of_rest(data, digest) == digest or _digest(values) == digest
        ):
            return values
    raise DamagedDataError(damaged)


def _digest_of_rest(data: bytes, digest: str) -> str | None:
    """Return the digest of a line as :func:`seal` writes it; None for other spellings of JSON.

    A line is read faster if its values need not be written again.
    """
    before, found, after = data.removesuffix(b"\n").rpartition(f',"{_FIELD}":"{digest}"'.encode())
    return hashlib.sha256(before + after).hexdigest() if found else None


def _digest(values: dict[str, Any]) -> str:
    return _digest_of(wire.canonical_json(values))


def _digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
