"""Feeds of RSS and Atom, whole, damaged and hostile."""

import io

import pytest

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import OptionError
from beam_topics.model.reading import sources
from beam_topics.model.reading.files import read_file, records
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.times import to_iso

RSS = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>North</title>
<item><guid>g1</guid><title>Storm &amp;amp; rain</title><link>http://a.example/1</link>
<description><![CDATA[<p>Water <b>rises</b>.</p>]]></description><author>Ann</author>
<pubDate>Fri, 30 Jan 2026 10:00:00 GMT</pubDate></item>
<item><link>http://a.example/2</link><title>Second</title>
<pubDate>Sat, 31 Jan 2026 10:00:00 +0100</pubDate></item>
</channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>South</title><entry><id>tag:a</id>
<title>Ships</title><updated>2026-01-30T10:00:00+01:00</updated><summary>short</summary>
<content type="html">They &lt;i&gt;sail&lt;/i&gt;</content></entry></feed>"""
LAUGHS = b"<!DOCTYPE r [<!ENTITY a0 'ha'>%s]><rss version='2.0'><channel><item><title>&a9;%s" % (
    b"".join(b"<!ENTITY a%d '%s'>" % (n, b"&a%d;" % (n - 1) * 99) for n in range(1, 10)),
    b"</title></item></channel></rss>",
)


def read(data, name="a.rss"):
    return list(read_file(io.BytesIO(data), name, ReadSettings()))


def test_entries_of_rss_are_records():
    first, second = [record for _, record in records(io.BytesIO(RSS), "a.rss", ReadSettings())]
    assert first == {
        "id": "g1",
        "timestamp": "2026-01-30T10:00:00.000000Z",
        "text": "Storm & rain\n\nWater rises.",
        "title": "Storm &amp; rain",
        "link": "http://a.example/1",
        "author": "Ann",
        "feed": "North",
    }
    assert (second["id"], second["text"]) == ("http://a.example/2", "Second")
    assert second["timestamp"] == "2026-01-31T09:00:00.000000Z" and "author" not in second


def test_an_atom_feed_has_its_content_before_its_summary():
    (document,) = read(ATOM, "a.atom")
    assert (document.id, document.text) == ("tag:a", "Ships\n\nThey sail")
    assert to_iso(document.timestamp) == "2026-01-30T09:00:00.000000Z"


def test_an_entry_without_a_time_is_a_dead_letter_with_its_place():
    found = read(RSS.replace(b"pubDate", b"other"))
    assert [(one.source, one.reason) for one in found] == [
        ("a.rss entry 1", "missing_timestamp"),
        ("a.rss entry 2", "missing_timestamp"),
    ]


def test_what_stands_before_damage_is_read():
    first, *_ = read(RSS[: RSS.index(b"<item><link>") + 20])
    assert isinstance(first, Document) and first.id == "g1"


@pytest.mark.parametrize("data", [b"<html><p>x</p></html>", b"no xml", b"http://localhost:1/feed"])
def test_what_is_no_feed_is_refused(data):
    (letter,) = read(data)
    assert (letter.reason, letter.source) == ("damaged", "a.rss")
    assert letter.detail.endswith("this is no feed of RSS or Atom")


def test_entities_are_not_expanded_without_bound_or_read_from_files(tmp_path):
    (tmp_path / "secret").write_text("harbour")
    for data in (
        LAUGHS,
        b"<!DOCTYPE r [<!ENTITY a SYSTEM 'file://%s'>]>" % str(tmp_path / "secret").encode()
        + RSS.replace(b"Second", b"&a;"),
    ):
        for item in read(data):
            text = item.detail if isinstance(item, DeadLetter) else item.text
            assert "harbour" not in text and len(text) < 10_000


def test_a_feed_without_its_library_is_refused(monkeypatch):
    monkeypatch.setattr(sources, "find_spec", lambda name: None)
    message = r"--input: 'a feed' was given; .*feedparser. Run: pip install 'beam-topics\[feeds\]'"
    with pytest.raises(OptionError, match=message):
        sources.check_formats(["a.xml"], ReadSettings())
