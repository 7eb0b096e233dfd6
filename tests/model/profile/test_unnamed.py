"""The formats of files whose names do not say them."""

import gzip

import pytest

from beam_topics.model.errors import OptionError
from beam_topics.model.profile.sampling import check_formats_known, formats_of
from beam_topics.model.reading.settings import ReadSettings

MAIL = b"From: a@b\nSubject: tea\nMessage-ID: <1@x>\nLines: 3\n\nTea at four.\n"
ROWS = b"id,date,text\n" + b"".join(b"%d,2024-01-0%d,a ship\n" % (n, n) for n in range(1, 9))
DOC = b'<doc id="1" url="u" title="T">\nTea\n</doc>\n'


@pytest.mark.parametrize(
    ("data", "files", "choices"),
    [
        (b'{"id": 1, "text": "a"}\n', 1, ("--format=jsonl",)),
        (b'[{"id": 1, "text": "' + b"a" * 10**6, 1, ("--format=jsonl",)),
        (b"[12:05] tea\n", 4, ("--format=txt",)),
        (MAIL, 9, ("--format=mail", "--format=txt")),
        (b"From ann Thu Jan  4 10:00:00 2024\n" + MAIL, 1, ("--format=mail", "--format=txt")),
        (DOC, 9, ("--format=doc", "--format=lines", "--format=txt")),
        (ROWS, 9, ("--format=csv", "--format=txt")),
        (b"Tea at four.\n", 9, ("--format=txt",)),
        (b"PAR1", 1, ("--format=parquet",)),
        (b"Obj\x01", 1, ("--format=avro",)),
        (gzip.compress(b'{"text": "a"}\n', mtime=0), 1, ("--format=jsonl",)),
        (b"", 1, ()),
        (b"\0\1\2", 1, ()),
    ],
)
def test_the_beginning_of_a_file_says_its_format(tmp_path, data, files, choices):
    path = tmp_path / "part_0"
    path.write_bytes(data)
    assert formats_of(str(path), files) == choices


def test_the_message_names_the_formats(tmp_path):
    path = tmp_path / "part_0"
    path.write_bytes(MAIL)
    with pytest.raises(OptionError) as raised:
        check_formats_known([str(path)], ReadSettings())
    assert str(raised.value) == (
        f"--input: '{path}' was given; allowed is a file whose ending says its format, as .jsonl,"
        " .csv and .txt do. Give --format=mail or --format=txt."
    )
    check_formats_known([str(path)], ReadSettings(format="txt"))
