r"""Convert text files of other encodings to UTF-8 while they are read.

A byte that is invalid in the encoding becomes a byte that is invalid in UTF-8, so it costs only the
record that contains it.

>>> b"".join(to_utf_8([b"caf\xe9\n"], "latin-1")).decode()
'café\n'
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from model.errors import DamagedDataError, OptionError

# The functions that read lines remove a byte order mark before UTF-8.
_UTF_8 = ("utf-8", "utf-8-sig")


def check_encoding(encoding: str) -> None:
    """Check that Python knows an encoding of text.

    Raises:
        OptionError: It does not.
    """
    try:
        "".encode(encoding)
    except (LookupError, ValueError) as error:
        allowed = "an encoding of text such as utf-8, latin-1, cp1252, utf-16, shift_jis"
        raise OptionError("--encoding", encoding, allowed, "Correct the spelling.") from error


def is_utf_8(encoding: str) -> bool:
    """Return whether an encoding, by any of its names, is UTF-8."""
    return codecs.lookup(encoding).name in _UTF_8


def to_utf_8(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Yield the same text as UTF-8.

    Raises:
        DamagedDataError: The rest cannot be read in this encoding. All before it was yielded.
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
