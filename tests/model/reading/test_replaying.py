import io

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import OptionError
from beam_topics.model.reading.files import BEGINNING, end_of, in_order, read_archive, read_file
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings
from beam_topics.model.reporting.encoding import DOCUMENT_SCHEMA

SETTINGS = ReadSettings(ParseSettings(FieldNames(key="key")))
SYNC = bytes(range(16))
PATHS = [
    "archive-20010101T000000Z-aa.avro",
    "archive-20010201T000000Z-bb.avro",
    "archive-20010301T000000Z-cc.avro",
]


def avro(numbers):
    rows = [
        {"id": f"d{n}", "timestamp": n, "text": f"text {n} " * 5, "label": None, "key": "k"}
        for n in numbers
    ]
    out = io.BytesIO()
    fastavro.writer(out, DOCUMENT_SCHEMA, rows, sync_interval=200, sync_marker=SYNC)
    return out.getvalue()


def damaged(data, block):
    """The file with the payload of one of its blocks (1, 2, ...) made unreadable."""
    at = 0
    for _ in range(block):
        at = data.index(SYNC, at) + 16
    return data[: at + 2] + b"\xff" * 30 + data[at + 32 :]


FILES = dict(
    zip(PATHS, (avro(range(20)), damaged(avro(range(20, 50)), 3), avro(range(50, 60))), strict=True)
)


def items(start=BEGINNING, files=FILES):
    return list(read_archive(list(files), SETTINGS, start, lambda path: io.BytesIO(files[path])))


def test_an_archive_is_its_files_one_after_the_other():
    whole = [item for _, item in items()]
    assert whole == [
        item for path in PATHS for item in read_file(io.BytesIO(FILES[path]), path, SETTINGS)
    ]
    assert sum(isinstance(item, DeadLetter) for item in whole) >= 1
    good = [item.timestamp for item in whole if isinstance(item, Document)]
    assert good == sorted(good)
    assert set(range(60)) - set(good) <= set(range(20, 50))


def test_positions_grow_and_end_before_the_end():
    positions = [position for position, _ in items()]
    assert positions == sorted(set(positions))
    assert positions[0] >= BEGINNING
    assert positions[-1] < end_of(PATHS)


@pytest.mark.parametrize("number", range(0, len(items()), 7))
def test_reading_goes_on_behind_any_item(number):
    every = items()
    position, _ = every[number]
    assert items((*position[:-1], position[-1] + 1)) == every[number + 1 :]
    assert items(position) == every[number:]


@pytest.mark.parametrize(
    "files",
    [{PATHS[0]: b"nonsense"}, {PATHS[0]: b""}, {PATHS[0]: avro([])}],
    ids=["nonsense", "empty", "no records"],
)
def test_a_file_without_records(files):
    found = items(files=files | {PATHS[1]: avro([7])})
    assert [item.id for _, item in found if isinstance(item, Document)] == ["d7"]
    letters = [item.reason for _, item in found if isinstance(item, DeadLetter)]
    assert letters == (["damaged"] if files[PATHS[0]] == b"nonsense" else [])
    # Behind the dead letter of the file it does not come again.
    position, _ = found[0]
    assert items((*position[:-1], position[-1] + 1), files | {PATHS[1]: avro([7])}) == found[1:]


def test_a_schema_without_the_fields():
    (found,) = items(files={PATHS[0]: FILES[PATHS[0]].replace(b'"key"', b'"yek"')})
    assert (found[1].reason, found[1].source) == ("schema", PATHS[0])


@given(
    st.lists(
        st.datetimes().map(lambda moment: moment.strftime("%Y%m%dT%H%M%SZ").rjust(16, "0")),
        unique=True,
        min_size=1,
    )
)
def test_files_are_in_the_order_of_their_names_times(starts):
    paths = [f"{number}/archive-{start}-0a{number}.avro" for number, start in enumerate(starts)]
    assert [path.split("/archive-")[1][:16] for path in in_order(paths)] == sorted(starts)


def test_files_that_are_not_an_archives():
    with pytest.raises(
        OptionError,
        match=(
            r"--input: 'a/b\.avro' was given; allowed is files of an archive.*beam-topics archive"
            r" makes one"
        ),
    ):
        in_order([PATHS[0], "a/b.avro"])


def test_two_files_of_one_period():
    other = PATHS[0].replace("aa", "ab")
    with pytest.raises(
        OptionError,
        match=(
            rf"{other}' was given; allowed is one file for each period, and {PATHS[0]} .*Remove the"
            r" older"
        ),
    ):
        in_order([*PATHS, other])
    assert in_order([PATHS[0], PATHS[0]]) == [PATHS[0]]
