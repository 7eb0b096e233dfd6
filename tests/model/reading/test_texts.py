"""Files that are documents."""

import gzip
import io
import os

import pytest

from beam_topics.model.documents.document import Document
from beam_topics.model.files import folder_of
from beam_topics.model.reading.files import read_file, records
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings
from beam_topics.model.reading.texts import date_in

DAY = 1_709_251_200_000_000


def read(data, name="notes/2024-03-01 tea.txt", settings=None, folder="notes/"):
    return list(read_file(io.BytesIO(data), name, settings or ReadSettings(), 0, folder))


def test_a_file_is_a_document_with_its_path_as_the_id():
    expected = [Document("2024-03-01 tea.txt", DAY, "Tea\nat four.")]
    assert read(b"\xef\xbb\xbfTea\nat four.") == expected
    assert (
        read("Tea\nat four.".encode("utf-16"), settings=ReadSettings(encoding="utf-16")) == expected
    )
    (zipped,) = read(gzip.compress(b"Tea\nat four."), "notes/2024-03-01.txt.gz")
    assert (zipped.id, zipped.timestamp) == ("2024-03-01.txt.gz", DAY)


@pytest.mark.parametrize(
    ("path", "date"),
    [
        ("2024-03-01 Tea.txt", "2024-03-01"),
        ("tea_20240301.txt", "2024-03-01"),
        ("IMG_20240301_153000.txt", "2024-03-01T15:30"),
        ("2024-03-01T15-30-00.txt", "2024-03-01T15:30"),
        ("2024-03-01 15.30 tea.txt", "2024-03-01T15:30"),
        ("2024/03/01/tea.txt", "2024-03-01"),
        ("2024/03/tea.txt", "2024-03-01"),
        ("2024/tea.txt", "2024-01-01"),
        ("minutes 2024-03.txt", "2024-03-01"),
        ("01.03.2024 tea.txt", "2024-03-01"),
        ("1796-Washington.txt", "1796-01-01"),
        ("letter_2024.txt", None),
        ("2024.txt", None),
        ("tea 2024-13-01.txt", None),
        ("2023-02-30.txt", None),
        ("20240301123456789.txt", None),
        ("chapter 12.txt", None),
    ],
)
def test_dates_in_names(path, date):
    assert date_in(path) == date


def test_a_name_without_a_date_is_told_and_the_advice_works():
    (letter,) = read(b"Tea", "notes/tea.txt")
    assert letter.reason == "missing_timestamp" and "--time_from=order" in letter.detail
    (document,) = read(b"Tea", "notes/tea.txt", ReadSettings(time_from="order"))
    assert (document.id, document.timestamp) == ("tea.txt", 0)


def test_the_time_of_change_is_used_where_it_is_asked_for(tmp_path):
    path = tmp_path / "tea.txt"
    path.write_bytes(b"Tea")
    os.utime(path, (86_400, 86_400))
    asked = ReadSettings(ParseSettings(FieldNames(timestamp="modified")))
    assert read(b"Tea", str(path), asked)[0].timestamp == 86_400_000_000
    with path.open("rb") as stream:
        ((_, record),) = records(stream, str(path), ReadSettings())
    assert "modified" not in record


def test_what_is_no_document_is_a_dead_letter():
    small = ReadSettings(ParseSettings(max_document_bytes=10))
    for data, settings, reason in (
        (b"", None, "empty_text"),
        (b" \n", None, "empty_text"),
        (b"caf\xe9", None, "invalid_utf8"),
        (b"a\0b", None, "nul"),
        (b"x" * 11, small, "too_large"),
        (gzip.compress(b"x" * 10**6)[:-9], None, "damaged"),
        (gzip.compress(b"x" * 10**6), small, "too_large"),
    ):
        (letter,) = read(data, settings=settings)
        assert (letter.reason, letter.source) == (reason, "notes/2024-03-01 tea.txt")
        assert len(letter.record) <= 2000


@pytest.mark.parametrize(
    ("patterns", "folder"),
    [
        (["notes/*.txt"], "notes"),
        (["notes/**/*.txt"], "notes"),
        (["notes/a.txt"], "notes"),
        (["notes/a/*.txt", "notes/ab/*.txt"], "notes"),
        (["*.txt"], "."),
        (["./notes//a.txt", "notes/b.txt"], "notes"),
        (["gs://bucket/notes/[ab]*.txt"], "gs:/bucket/notes"),
    ],
)
def test_ids_are_paths_within_the_folder_that_the_patterns_share(patterns, folder):
    assert folder_of(patterns) == folder
