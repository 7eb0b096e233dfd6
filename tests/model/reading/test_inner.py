"""Records within records: the elements of an array, and mails in a field."""

import pytest

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.reading.inner import inner_records, is_mail


def test_a_record_without_the_array_of_records_is_told():
    items = [
        ("a:1", {"data": [{"text": "Tea"}, "Cake"]}),
        ("a:2", {"other": 1}),
        ("a:3", {"data": {"text": "Tea"}}),
        ("a:4", {"data": []}),
        DeadLetter("a:5", "not_json", "", ""),
    ]
    found, element, without, no_array, dead = inner_records(items, "data")
    assert found == ("a:1 record 1", {"text": "Tea"}) and dead is items[-1]
    assert [one.source for one in (element, without)] == ["a:1 record 2", "a:2"]
    assert {one.reason for one in (element, without, no_array)} == {"wrong_type"}
    assert without.detail == (
        "the record has no array of objects 'data' (--records); it has 'other'"
    )
    assert list(inner_records(items, None)) == items


MAIL = "Message-ID: <1@x>\nDate: Fri, 01 Jan 2010 00:00:00 +0000\nSubject: Tea\n\nYes.\n"


def test_a_mail_in_a_field_is_a_record():
    items = [("a row 2", {"message": f"\n{MAIL}"}), ("a row 3", {"message": "Tea: yes\n"})]
    (place, found), other = inner_records(items, "message")
    assert place == "a row 2 record 1"
    assert (found["id"], found["text"]) == ("1@x", "Tea\n\nYes.\n")
    assert found["timestamp"] == "2010-01-01T00:00:00+00:00"
    assert (other.source, other.reason) == ("a row 3 record 1", "wrong_type")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (MAIL, True),
        (MAIL.replace("\n", "\r\n"), True),
        ("From: a\nDate: b\n folded\nX-To: c\n\nbody", True),
        ("Note: a\nDate: b\nTo do: c\n", False),
        ("Date: a\nSubject: b\n\nText", False),
        ("The ship: a\nDate: b\nFrom: c\n", False),
        ("", False),
    ],
)
def test_a_mail_begins_with_its_headers(text, is_one):
    assert is_mail(text) is is_one
