r"""Text files in other encodings than UTF-8: their bytes, encoded anew as UTF-8 while they are
read.

A byte that the encoding does not have becomes one that UTF-8 does not have either, so it costs the
one record that holds it.

>>> b"".join(recoded([b"caf\xe9\n"], "latin-1")).decode()
'café\n'
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from model.errors import DamagedDataError, OptionError

# A byte order mark before UTF-8 is left out by those who read lines.
_UTF_8 = ("utf-8", "utf-8-sig")


def check_encoding(encoding: str) -> None:
    """Raises OptionError: Python knows no such encoding of text."""
    try:
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        allowed = "an encoding of text such as utf-8, latin-1, cp1252, utf-16, shift_jis"
        raise OptionError("--encoding", encoding, allowed, "Correct the spelling.") from error


def is_utf_8(encoding: str) -> bool:
    """Whether an encoding, by any of its names, is UTF-8."""
    return codecs.lookup(encoding).name in _UTF_8


def recoded(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The same text as UTF-8.

    Raises:
        DamagedDataError: the rest cannot be read in this encoding; everything before that has been
            given.
    """
    if is_utf_8(encoding):
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(encoding)("surrogateescape")
    try:
        for chunk in chunks:
            if text := decoder.decode(chunk):
                yield _encoded(text)
        if text := decoder.decode(b"", True):
            yield _encoded(text)
    except UnicodeError as error:
        raise DamagedDataError(f"the file is not {encoding} (--encoding): {error}") from error


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
