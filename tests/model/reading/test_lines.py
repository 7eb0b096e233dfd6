import gzip
import io
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from limited import limited

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.reading.lines import cut_lines, unzipped

LINES = [b'{"n": %d}' % n for n in range(5000)]
TEXT = b"\n".join(LINES) + b"\n"


def read(data, limit=1000, name="a.jsonl"):
    items = list(cut_lines(unzipped(io.BytesIO(data)), name, limit))
    return [item for item in items if isinstance(item, tuple)], [
        item for item in items if isinstance(item, DeadLetter)
    ]


def test_places_count_from_one_and_blank_lines_are_no_records():
    assert read(b"\xef\xbb\xbfone\r\n\n  \nfour")[0] == [
        ("a.jsonl:1", b"one\r"),
        ("a.jsonl:4", b"four"),
    ]
    assert read(b"") == ([], [])
    assert read(b"\n\n") == ([], [])


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        gzip.compress(TEXT),
        gzip.compress(TEXT[:999]) + gzip.compress(TEXT[999:]) + b"\0" * 70_000,
    ],
    ids=["plain", "gzip", "two members and padding"],
)
def test_plain_and_gzipped(data):
    lines, dead = read(data)
    assert [line for _, line in lines] == LINES
    assert dead == []


def test_an_empty_gzip():
    assert read(gzip.compress(b"")) == ([], [])


@pytest.mark.parametrize("kept", [3, 11, 100, 5000, -9, -8, -1])
def test_a_truncated_gzip_is_read_up_to_its_end(kept):
    data = gzip.compress(TEXT)[:kept]
    lines, dead = read(data)
    found = [line for _, line in lines]
    assert found == LINES[: len(found)]
    assert (
        len(found) > 0.9 * 5000 * (kept if kept > 0 else len(data)) / len(gzip.compress(TEXT)) - 300
    )
    (letter,) = dead
    assert (letter.reason, letter.source) == ("damaged", f"a.jsonl:{len(found) + 1}")
    assert "the gzip ends too early, after compressed byte" in letter.detail
    if kept in (-8, -1):
        assert found == LINES


def test_a_damaged_gzip_is_read_up_to_the_damage():
    data = bytearray(gzip.compress(TEXT))
    data[len(data) // 2 :] = b"\xff" * (len(data) - len(data) // 2)
    lines, (letter,) = read(bytes(data))
    found = [line for _, line in lines]
    sound = sum(1 for found_line, line in zip(found, LINES, strict=False) if found_line == line)
    assert sound > 2000
    assert letter.reason == "damaged"
    assert "the gzip is damaged after compressed byte" in letter.detail


def test_a_wrong_checksum_is_noticed():
    data = bytearray(gzip.compress(TEXT))
    data[-6] ^= 1
    lines, (letter,) = read(bytes(data))
    assert [line for _, line in lines] == LINES
    assert "incorrect data check" in letter.detail


def test_rubbish_after_a_gzip_is_noticed():
    lines, (letter,) = read(gzip.compress(TEXT) + b"rubbish")
    assert [line for _, line in lines] == LINES
    assert letter.reason == "damaged"


def test_a_whole_last_line_is_read_though_its_newline_is_lost():
    whole = gzip.compress(b'{"n": 1}\n{"n": 2}', mtime=0)
    lines, dead = read(whole[:-8])
    assert [line for _, line in lines] == [b'{"n": 1}', b'{"n": 2}']
    assert [letter.source for letter in dead] == ["a.jsonl:3"]


class Endless(io.RawIOBase):
    """A long line that is made as it is read, and notes how much of it was asked for."""

    def __init__(self, size):
        self.left = size

    def read(self, size=-1):
        given = min(size, self.left)
        self.left -= given
        return b"x" * given


def test_a_line_that_is_too_long_is_counted_and_not_held():
    import tracemalloc

    tracemalloc.start()
    (letter,) = cut_lines(unzipped(Endless(100_000_000)), "a.jsonl", 1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (letter.source, letter.reason) == ("a.jsonl:1", "too_large")
    assert letter.detail.startswith("100000000 bytes; at most 1000000 are allowed")
    assert letter.record == "x" * 2000
    assert peak < 5_000_000


def test_lines_after_one_that_is_too_long_are_read():
    lines, dead = read(b"a\n" + b"b" * 11 + b"\n" + b"c" * 10, limit=10)
    assert lines == [("a.jsonl:1", b"a"), ("a.jsonl:3", b"c" * 10)]
    assert [letter.source for letter in dead] == ["a.jsonl:2"]


@given(
    st.lists(
        st.binary(max_size=40).filter(
            lambda line: b"\n" not in line and line.strip() == line and line
        )
    ),
    st.booleans(),
)
@settings(max_examples=100)
def test_lines_round_trip(lines, zipped):
    data = b"\n".join(lines)
    if data[:2] == b"\x1f\x8b" or data.startswith(b"\xef\xbb\xbf"):
        return
    found, dead = read(gzip.compress(data) if zipped else data)
    assert [line for _, line in found] == lines
    assert dead == []


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_no_rubbish_raises(data):
    read(b"\x1f\x8b" + data)
    read(gzip.compress(TEXT)[: len(data)] + data)


# The last line of a gzip, with its place; or the number and the size of the dead letter.
LAST = """
import io, sys
from beam_topics.model.reading.lines import cut_lines, unzipped
for item in cut_lines(unzipped(io.BytesIO(sys.stdin.buffer.read())), "a.jsonl.gz", 10 * 2**20):
    print(item if isinstance(item, tuple) else (item.source, item.reason, item.detail))
"""


def zipped(piece, times, end):
    """A gzip of a piece so many times, and an end."""
    engine = zlib.compressobj(wbits=31)
    return b"".join(
        [*(engine.compress(piece) for _ in range(times)), engine.compress(end), engine.flush()]
    )


@pytest.mark.parametrize(("line", "lines"), [(b"\n", 2**26), (b" \r\n", 2**24)])
def test_millions_of_blank_lines_in_a_small_gzip_are_skipped_at_once(line, lines):
    data = zipped(line * 2**20, lines // 2**20, b"end")
    assert len(data) < 70_000
    # Line by line it takes minutes.
    assert (
        limited(LAST, data, seconds=10, megabytes=1000) == f"('a.jsonl.gz:{lines + 1}', b'end')\n"
    )


def test_a_gzip_of_one_endless_line_is_not_held():
    said = limited(LAST, zipped(b"x" * 2**20, 512, b""), seconds=30, megabytes=600)
    assert (
        "('a.jsonl.gz:1', 'too_large', '536870912 bytes; at most 10485760 are allowed"
        " (--max_document_mb)')" in said
    )


@pytest.mark.parametrize("chunk", [3, 100])
@given(
    st.lists(
        st.sampled_from(
            [b"\n", b" ", b"\r", b"\t\x0b\x0c", b"a", b"  \n", b"\n\n\n", b"longer than allowed"]
        ),
        max_size=30,
    )
)
@settings(max_examples=200)
def test_blank_lines_count_and_nothing_else_does(chunk, pieces):
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, chunk))

    data, found = b"".join(pieces), []
    for number, line in enumerate(data.split(b"\n"), 1):
        if len(line) > 5 or line.strip():
            found.append((f"a:{number}", None if len(line) > 5 else line))
    items = cut_lines(unzipped(Slow(data)), "a", 5)
    assert [item if isinstance(item, tuple) else (item.source, None) for item in items] == found
