"""Mails and mailboxes."""

import gzip
import io
from email.message import EmailMessage
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.reading.files import read_file, records
from beam_topics.model.reading.mails import MailFile
from beam_topics.model.reading.settings import FieldNames, ParseSettings, ReadSettings

DAY = 1_262_304_000_000_000
HEAD = b"Message-ID: <1@x.org>\nDate: Fri, 01 Jan 2010 01:00:00 +0100\nFrom: Bo <b@x.org>\n"


def read(data, name="a.eml", settings=None):
    return list(read_file(io.BytesIO(data), name, settings or ReadSettings()))


def fields(data):
    ((_, record),) = records(io.BytesIO(data), "a.eml", ReadSettings())
    return record


def test_a_mail_is_a_document():
    data = HEAD + b"Subject: Tea\n at four\n\nYes.\n"
    settings = ReadSettings(ParseSettings(FieldNames(source="from")))
    expected = Document("1@x.org", DAY, "Tea at four\n\nYes.\n", source="Bo <b@x.org>")
    assert read(data, settings=settings) == [expected]
    assert read(data.replace(b"\n", b"\r\n"), settings=settings)[0].timestamp == DAY
    assert read(gzip.compress(data), "a.eml.gz", settings) == [expected]


@pytest.mark.parametrize(
    ("head", "text"),
    [
        (b"Subject: =?utf-8?q?Caf=C3=A9?=\n\nx", "Café\n\nx"),
        (b"Subject: Caf\xe9\n\nx", "Café\n\nx"),
        (b"Subject: =?nonsense?q?a?=\n\nx", "=?nonsense?q?a?=\n\nx"),
        (b"Content-Type: text/plain; charset=latin-1\n\ncaf\xe9", "\n\ncafé"),
        (b"Content-Type: text/plain; charset=nonsense\n\ncaf\xe9", "\n\ncafé"),
        (b"Content-Type: text/plain; charset=punycode\n\nabc-", "\n\nabc-"),
        (b"Content-Transfer-Encoding: base64\n\nVGVh", "\n\nTea"),
        (b"Content-Type: text/html\n\n<p>Tea &amp; milk</p>", "\n\n\nTea & milk\n"),
        (b"Content-Type: application/pdf\n\nx", "\n\n"),
        (b"\nno header", "\n\nno header"),
    ],
)
def test_bodies_and_subjects_are_decoded(head, text):
    assert fields(head)["text"] == text


def test_plain_text_comes_before_html_and_attachments_are_not_read():
    mail = EmailMessage()
    mail["Subject"] = "Tea"
    mail.set_content("plain")
    mail.add_alternative("<b>marked</b>", subtype="html")
    mail.add_attachment(b"x" * 5000, maintype="application", subtype="pdf", filename="a.pdf")
    mail.add_attachment("secret", filename="a.txt")
    assert fields(mail.as_bytes())["text"] == "Tea\n\nplain\n"
    # The attachment is what is too large.
    small = ReadSettings(ParseSettings(max_document_bytes=1000), time_from="order")
    assert [one.text for one in read(mail.as_bytes(), settings=small)] == ["Tea\n\nplain\n"]
    (letter,) = read(HEAD + b"\n" + b"x" * 2000, settings=small)
    assert (letter.reason, letter.source) == ("too_large", "a.eml mail 1")


@pytest.mark.parametrize(
    ("head", "time"),
    [
        (b"Date: Fri, 01 Jan 2010 00:00:00 -0000", "2010-01-01T00:00:00"),
        (b"Received: by x; Sat, 02 Jan 2010 00:00:00 +0000", "2010-01-02T00:00:00+00:00"),
        (
            b"Date: soon\nReceived: by x; Sat, 02 Jan 2010 00:00:00 +0000",
            "2010-01-02T00:00:00+00:00",
        ),
        (b"Date: soon", "soon"),
        (b"Subject: x", None),
    ],
)
def test_times(head, time):
    assert fields(head + b"\n\nx")["timestamp"] == time


def test_a_mail_without_an_id_has_that_of_its_place():
    one, other = (fields(b"Subject: x\n\n" + text)["id"] for text in (b"a", b"b"))
    assert one == other == "a.eml mail 000000001"


BOX = b"".join(
    b"From b@x.org Fri Jan  1 00:00:00 2010\n"
    + HEAD.replace(b"<1@", b"<%d@" % number)
    + b"Subject: S%d\n\nFrom here to there.\n\nFrom now on,\n>From %d\n\n" % (number, number)
    for number in range(50)
)


def test_a_mailbox_is_cut_into_its_mails_wherever_its_bytes_are():
    found = read(BOX, "a.mbox")
    assert [one.id for one in found] == [f"{number}@x.org" for number in range(50)]
    assert found[7].text == "S7\n\nFrom here to there.\n\nFrom now on,\nFrom 7\n\n"
    assert read(BOX.replace(b"\n", b"\r\n"), "a.mbox")[49].id == "49@x.org"
    for size in (1, 7, 600, 5000):
        cuts = [*range(0, len(BOX), size), len(BOX)]
        file = MailFile((BOX[a:b] for a, b in pairwise(cuts)), "a.mbox", 10**6)
        assert [record["id"] for _, record in file.records()] == [one.id for one in found]


def test_damage_costs_the_rest_of_a_mailbox():
    *good, letter = read(gzip.compress(BOX)[:-10], "a.mbox.gz")
    assert len(good) == 50 and all(isinstance(one, Document) for one in good)
    assert (letter.reason, letter.source) == ("damaged", "a.mbox.gz mail 51")


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Type: message/rfc822\n\n" * 20_000,
        b"Content-Type: multipart/mixed; boundary=a\n\n--a\n" * 5_000,
        b"Content-Type: text/plain" + b";" * 200_000 + b"\n\nx",
        b"Content-Type: text/plain" + b";\n a=b" * 200_000 + b"\n\nx",
    ],
)
def test_what_the_parser_would_not_end_is_a_dead_letter(data):
    (letter,) = read(data)
    assert (letter.reason, letter.source) == ("damaged", "a.eml mail 1")
    assert "it has more than 100 parts with parts, or too long a header" in letter.detail


@given(
    st.lists(
        st.sampled_from(
            [
                *(b"From a 10:00 2010\n", b"\n", b"Subject:", b" =?utf-8?q?=C3?=", b"Date: 1\n"),
                *(b"Content-Type: multipart/mixed; boundary=b\n", b"--b\n", b"--b--\n"),
                *(b"Content-Type: text/html; charset*=x''%ff\n", b"\xff\r\n", b"Received: ;"),
                *(b"Content-Transfer-Encoding: uu\n", b"x <b>"),
                b"Content-Disposition: attachment; filename*0*=a\n",
            ]
        )
    )
)
def test_no_mail_is_an_exception(pieces):
    for item in read(b"".join(pieces)):
        assert isinstance(item, (Document, DeadLetter))
