r"""Convert text files of other encodings to UTF-8 while they are read.

A byte that is invalid in the encoding becomes a byte that is invalid in UTF-8, so it costs only the
record that contains it.

>>> b"".join(to_utf_8([b"caf\xe9\n"], "latin-1")).decode()
'café\n'
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence

from beam_topics.model.errors import DamagedDataError, OptionError

# The functions that read lines remove a byte order mark before UTF-8.
_UTF_8 = ("utf-8", "utf-8-sig")
# Those of four bytes come first, because one of them begins like one of two.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Encodings that files have today, the most common one of those that look alike first.
_LIKELY = (
    *("cp1252", "cp1250", "iso8859_2", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255"),
    *("cp1256", "cp874", "cp932", "euc_jp", "gb18030", "big5", "cp949", "mac_roman"),
)
_HIGH, _ESCAPED = re.compile(rb"[\x80-\xff]"), re.compile("[\udc80-\udcff]")
# The bytes that show whether characters have two bytes, and those that the detector sees.
_NULS, _EXAMINED = 1024, 2**16
# Zeros of UTF-16 without a mark: most are at even or most at odd places, at least this share of
# the bytes, and more than this number.
_SPARSE, _FEW = 0.03, 8
# The share of bytes above 127 that may be damaged in a file of UTF-8.
_MOST_FAULTS = 0.05


def check_encoding(encoding: str) -> None:
    """Check that Python knows an encoding of text."""
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


def find_encoding(parts: Sequence[bytes]) -> str | None:
    """Return the encoding of a text file by parts of it; None if none is likely.

    UTF-8 and byte order marks are certain. Of the encodings with one result for these parts, the
    most common one is returned.

    Args:
        parts: bytes of the file; the first part is its beginning, and a part may cut a character.
    """
    begin = parts[0] if parts else b""
    for mark, encoding in _MARKS.items():
        if begin.startswith(mark):
            return encoding
    few, many = sorted(nuls := [begin[at:_NULS:2].count(0) for at in (0, 1)])
    if many > max(4 * few, _FEW, _SPARSE * len(begin[:_NULS])):
        return "utf-16-le" if nuls[1] == many else "utf-16-be"
    if sum(map(_faults, parts)) <= _MOST_FAULTS * sum(len(_HIGH.findall(part)) for part in parts):
        return "utf-8"
    # Imported here: most files are UTF-8.
    from charset_normalizer import from_bytes

    lines = [line for part in parts for line in part.splitlines() if _HIGH.search(line)]
    found = from_bytes(b"\n".join(lines)[:_EXAMINED], cp_isolation=list(_LIKELY)).best()
    if found is None:
        return None
    alike = found.could_be_from_charset
    return next((encoding for encoding in _LIKELY if encoding in alike), found.encoding)


def _faults(part: bytes) -> int:
    """Return the number of bytes that are not UTF-8, but for a character that the part cuts."""
    text = part.decode("utf-8", "surrogateescape")
    return len(_ESCAPED.findall(text[3:-3]))
