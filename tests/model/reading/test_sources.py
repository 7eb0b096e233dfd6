import gzip
import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.reading.files import read_file
from beam_topics.model.reading.settings import ParseSettings, ReadSettings
from beam_topics.model.reading.sources import has_parts, parts_of

PLACES = ReadSettings(parse=ParseSettings(id_from="place"))


class ShortReads(io.BytesIO):
    """A stream that returns fewer bytes than it is asked for, as a remote one may."""

    def __init__(self, data, most):
        super().__init__(data)
        self._most = most

    def read(self, size=-1):
        return super().read(self._most if size < 0 else min(size, self._most))


def line(number):
    return json.dumps({"timestamp": number, "text": f"words {number}"}).encode() + b"\n"


def found(data, part=None):
    return list(read_file(io.BytesIO(data), "a.jsonl", PLACES, part=part))


def facts(items):
    return [
        (item.source, item.reason) if isinstance(item, DeadLetter) else (item.id, item.text)
        for item in items
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([line(1), b"\n", b"[{\n", b"{broken\n", b'"\xff"\n']), max_size=12),
    st.integers(1, 200),
    st.integers(1, 70),
)
def test_parts_have_the_records_and_places_of_the_whole_file(lines, least, most):
    data = line(0) + line(0) + b"".join(lines) + line(2).rstrip(b"\n")
    parts = list(parts_of(ShortReads(data, most), least))
    assert [part.begin for part in parts[1:]] == [part.end for part in parts[:-1]]
    assert parts[0].begin == 0 and parts[-1].end == len(data)
    assert all(part.end - part.begin >= least for part in parts[:-1])
    assert facts(item for part in parts for item in found(data, part)) == facts(found(data))


def test_a_file_of_lines_has_parts():
    assert has_parts(io.BytesIO(b"\xef\xbb\xbf" + line(1) + line(2)), ReadSettings())


def test_what_the_first_bytes_do_not_show_to_be_lines_has_no_parts():
    lines = line(1) + line(2)
    for data in (
        b"",
        line(1),
        b"[" + line(1) + b"]",
        json.dumps({"a": [1]}, indent=1).encode(),
        gzip.compress(lines),
    ):
        assert not has_parts(io.BytesIO(data), ReadSettings())
    for read in (ReadSettings(records="items"), ReadSettings(encoding="latin-1")):
        assert not has_parts(io.BytesIO(lines), read)
