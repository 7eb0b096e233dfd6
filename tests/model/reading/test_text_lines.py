"""Files of text whose lines, or messages, are documents."""

import io

import pytest

from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.reading.files import read_file, records
from beam_topics.model.reading.parsing import BAD_ROW, MISSING_TEXT
from beam_topics.model.reading.settings import ParseSettings, ReadSettings
from beam_topics.model.reading.texts import DocFile, choices_of, message_in

LINES = ReadSettings(format="lines", time_from="order")


def read(text, settings=LINES, name="a.txt"):
    return list(read_file(io.BytesIO(text.encode()), name, settings))


def messages(text):
    settings = ReadSettings(format="chat")
    return [item[1] for item in records(io.BytesIO(text.encode()), "c.txt", settings)]


def test_each_line_is_a_document():
    found = read('\ufeffTea, at "four"\n\n  and cake \r\n')
    assert [one.text for one in found] == ['Tea, at "four"', "and cake"]
    assert [one.id for one in found] == ["a.txt 000000001", "a.txt 000000003"]


def test_columns_are_the_words_that_begin_a_line():
    found = read("d1 sea the ship came\nd2\tlaw\ta  trial\nd3 sea\n", ReadSettings(
        ParseSettings(), format="lines", time_from="order", columns=("id", "label", "text")
    ))  # fmt: skip
    assert [(one.id, one.label, one.text) for one in found[:2]] == [
        ("d1", "sea", "the ship came"),
        ("d2", "law", "a  trial"),
    ]
    assert isinstance(found[2], DeadLetter) and found[2].reason == MISSING_TEXT


@pytest.mark.parametrize(
    ("line", "time", "author", "text"),
    [
        ("[10/14/21, 3:34:09 PM] Ben: Tea", "10/14/21, 3:34:09 PM", "Ben", "Tea"),
        ("\u200e[10/14/21, 3:34:09\u202fPM] Ben: Tea", "10/14/21, 3:34:09 PM", "Ben", "Tea"),
        ("14/10/2021, 15:34 - Ann B: see: here", "14/10/2021, 15:34", "Ann B", "see: here"),
        ("[14.10.21, 15:34:09] Ann: Tea", "14.10.21, 15:34:09", "Ann", "Tea"),
        ("2021-10-14, 3:34 p.m. - \u202a+00\u202c: Tea", "2021-10-14, 3:34 p.m.", "+00", "Tea"),
        ("[15:34] <@ann> a: Tea", "15:34", "ann", "a: Tea"),
        ("2021-10-14 15:34:09 <ann> Tea", "2021-10-14 15:34:09", "ann", "Tea"),
        ("2021-10-14T15:34:09 <ann> Tea", "2021-10-14T15:34:09", "ann", "Tea"),
        ("2021-10-14 15:34:09\tann\tTea", "2021-10-14 15:34:09", "ann", "Tea"),
        ("14/10/2021, 15:34 - Messages are encrypted.", "14/10/2021, 15:34", "", ""),
        ("15:34 -!- ben has joined", "15:34", "", ""),
        ("[10/14/21, 3:34:09 PM] Ben: \u200eimage omitted", "10/14/21, 3:34:09 PM", "Ben", ""),
        ("14/10/2021, 15:34 - Ann: <Media omitted>", "14/10/2021, 15:34", "Ann", ""),
    ],
)  # fmt: skip
def test_a_message_begins_with_its_time_and_its_author(line, time, author, text):
    assert message_in(line) == {"time": time, "author": author, "text": text}


@pytest.mark.parametrize("line", ["Tea at 15:34", "", "15 ships", "12:30", "1. Ann: Tea"])
def test_other_lines_begin_no_message(line):
    assert message_in(line) is None


def test_lines_without_a_time_belong_to_the_message_before():
    found = messages(
        "14/10/2021, 15:34 - Encrypted.\n14/10/2021, 15:35 - Ann: Tea\nat four\n"
        "14/10/2021, 15:36 - Ben left\n14/10/2021, 15:37 - Ann: <Media omitted>\nlost\n"
        "14/10/2021, 15:38 - Ben: Cake"
    )
    assert [(one["author"], one["text"], one["timestamp"]) for one in found] == [
        ("Ann", "Tea\nat four", "14/10/2021, 15:35"),
        ("Ben", "Cake", "14/10/2021, 15:38"),
    ]


def test_marks_of_a_log_belong_to_no_message():
    found = messages("--- Log opened\n10:00 <ann> Tea\n*** Joins: ben\n10:01 <ben> Cake\n")
    assert [one["text"] for one in found] == ["Tea", "Cake"]
    assert "timestamp" not in found[0]


def test_a_line_before_the_first_message_is_told():
    (letter,) = read("Tea at four\n", ReadSettings(format="chat"))
    assert letter.reason == BAD_ROW
    assert letter.detail == (
        "no message with its time and author begins here; --format=lines takes each line"
    )


def long(n):
    return f"the ship {n} came into the harbour, with {n * 7} sails"


CHAT, MALLET = "the messages of a chat", "lines of a name, a label and a text"
TABLE = "rows of a table"


@pytest.mark.parametrize(
    ("line", "what", "first"),
    [
        (lambda n: f"{long(n)}\n", "documents", "--format=lines"),
        (lambda n: f"12:{n:02} <ann> {n}\n", CHAT, "--format=chat"),
        (lambda n: f"1/2/24, 9:{n:02} AM - Ann: {n}\n" + "more\n" * 5, CHAT, "--format=chat"),
        (lambda n: f"d{n} {n % 2} {long(n)}\n", MALLET, "--format=lines --columns=id,label,text"),
        (lambda n: f"the {n}\t{n % 2}\t{long(n)}\n", TABLE, "--format=csv --delimiter=tab"),
    ],
)
def test_lines_that_look_like_records_are_known(line, what, first):
    found, choices = choices_of(["".join(map(line, range(40)))])
    assert found == what and choices[0] == first and choices[-1] == "--format=txt"


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"{long(1)}\n" * 40,
        "word\n" * 40,
        "".join(map(long, range(40))),
        f"{long(1)}\n{long(2)}",
    ],
)
def test_other_files_are_one_text(text):
    assert choices_of([text]) == ("", ())


DOC, FASTTEXT = "the documents of wikiextractor", "lines of a label and a text"


@pytest.mark.parametrize(
    ("line", "what", "choices"),
    [
        (
            lambda n: f'<doc id="{n}" url="u" title="T">\nShip {n}.\n</doc>\n',
            DOC,
            ("--format=doc", "--format=lines", "--format=txt"),
        ),
        (
            lambda n: f"__label__{n % 2} {long(n)}\n",
            FASTTEXT,
            ("--format=lines --columns=label,text", "--format=lines", "--format=txt"),
        ),
        (lambda n: f"船只{chr(0x4E00 + n)}进港\n", "documents", ("--format=lines", "--format=txt")),
        (lambda n: f"ship {n}\n", "documents", ("--format=lines", "--format=txt")),
    ],
)
def test_short_lines_and_those_of_tools_are_known(line, what, choices):
    assert choices_of(["".join(map(line, range(40)))]) == (what, choices)


def test_a_few_lines_of_one_file_are_asked_for_with_the_text_first():
    text = "".join(f"{long(n)}\n" for n in range(5))
    assert choices_of([text]) == ("documents", ("--format=txt", "--format=lines"))
    assert choices_of([text, text]) == ("", ())


ARTICLES = """<doc id="7" url="https://x?a=1&amp;b" title="Tea &quot;x&quot;">
Tea

Hot.
</doc>

lost
<doc>
Cake
</doc>
<doc id="9">
"""


def test_documents_between_lines_of_doc():
    first, lost, second, cut = DocFile([ARTICLES.encode()], "w", 1000).records()
    fields = {"id": "7", "url": "https://x?a=1&b", "title": 'Tea "x"', "text": "Tea\nHot."}
    assert first == ("w:1", fields)
    assert second[1]["text"] == "Cake" and second[0] == "w:8"
    assert (lost.source, lost.reason) == ("w:7", BAD_ROW)
    assert lost.detail == 'no <doc id="..."> begins here; --format=lines takes each line'
    assert (cut.source, cut.detail) == ("w:11", "the <doc> has no end </doc>")


def test_a_document_that_is_too_large_is_a_dead_letter():
    text = "<doc>\n" + "tea\n" * 100 + "</doc>\n"
    settings = ReadSettings(ParseSettings(max_document_bytes=40), format="doc", time_from="order")
    (found,) = read_file(io.BytesIO(text.encode()), "w", settings)
    assert found.reason == "too_large"
