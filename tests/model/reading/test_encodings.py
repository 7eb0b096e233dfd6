import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.errors import DamagedDataError, OptionError
from beam_topics.model.reading.encodings import check_encoding, is_utf_8, to_utf_8


def read(data, encoding, size=3):
    return b"".join(to_utf_8([data[at : at + size] for at in range(0, len(data), size)], encoding))


@given(
    st.text(st.characters(blacklist_categories=["Cs"])),
    st.sampled_from(["utf-16", "utf-32", "utf-8", "utf-7"]),
    st.integers(1, 9),
)
def test_text_is_the_same_whatever_the_chunks(text, encoding, size):
    assert read(text.encode(encoding), encoding, size).decode() == text


def test_a_byte_that_an_encoding_does_not_have_stays_no_text():
    assert read(b"caf\xe9\n", "latin-1") == "café\n".encode()
    made = read(b"a\x81b\nc\n", "cp1252")
    assert made.splitlines()[1] == b"c"
    with pytest.raises(UnicodeDecodeError):
        made.splitlines()[0].decode()


def test_bytes_that_end_within_a_character():
    with pytest.raises(DamagedDataError, match="the file is not utf-16 .--encoding.: "):
        read("ab".encode("utf-16")[:-1], "utf-16")


def test_encodings_that_there_are():
    assert is_utf_8("UTF8") and is_utf_8("utf-8-sig") and not is_utf_8("latin-1")
    check_encoding("Shift_JIS")
    for wrong in ("klingon", "base64", "a\0b"):
        with pytest.raises(
            OptionError,
            match=(
                "^--encoding: .* was given; allowed is an encoding of text such as utf-8, latin-1,"
                " cp1252"
            ),
        ):
            check_encoding(wrong)
