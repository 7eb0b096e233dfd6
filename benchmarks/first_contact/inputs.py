"""Inputs in the forms in which people's data come, each made by a function of its own.

An input is registered by :func:`made`. Its function writes files into an empty folder, and returns
the argument of ``beam-topics train``. What a person expects of it stands beside it.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from xml.sax.saxutils import escape

from benchmarks.first_contact import subjects as s
from benchmarks.first_contact.subjects import Subjects, Texts, some

THREE = some(s.ENGLISH, "space", "kitchen", "law")
_START = datetime(2023, 1, 2, 8, tzinfo=UTC)
MOST_QUESTIONS = 2


@dataclass(frozen=True)
class Input:
    """An input that a person brings.

    Attributes:
        name: Its name.
        make: Writes its files, and returns the argument of ``train``.
        documents: The documents that a person expects to be learned; 0 where the run has to be
            refused.
        subjects: The true subjects; None where there are none.
        expected: What a person expects, in words.
        said: Words that the output has to have.
        options: Options of the command.
        least: The least nMI between topics and subjects.
        timed: Whether the documents have times, which the run has to use.
        answer: How the choice begins that a person takes of those of a question; "" for the last
            option that it names.
    """

    name: str
    make: Callable[[Path], str]
    documents: int
    subjects: Subjects | None
    expected: str
    said: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    least: float = 0.9
    timed: bool = True
    answer: str = ""


INPUTS: list[Input] = []
Maker = Callable[[Path], str]


def made(
    documents: int, subjects: Subjects | None, expected: str, **others: object
) -> Callable[[Maker], Maker]:
    """Register the function that makes an input."""

    def register(make: Maker) -> Maker:
        name = make.__name__.strip("_")
        INPUTS.append(Input(name, make, documents, subjects, expected, **others))  # type: ignore[arg-type]
        return make

    return register


def moment(number: int, hours: int = 12) -> datetime:
    """Return the time of a document."""
    return _START + timedelta(hours=hours * number)


def _csv(rows: Iterable[Sequence[object]], delimiter: str = ",", **options: object) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, **options).writerows(rows)  # type: ignore[arg-type]
    return out.getvalue()


def _written(folder: Path, name: str, text: str, encoding: str = "utf-8") -> str:
    (folder / name).write_bytes(text.encode(encoding))
    return name


def _lines(folder: Path, name: str, records: Iterable[object]) -> str:
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return _written(folder, name, text)


def _dated(
    folder: Path,
    form: str,
    texts: Texts,
    count: int = 400,
    header: Sequence[str] = ("date", "text"),
) -> str:
    rows = [(moment(n).strftime(form), texts.text(n)) for n in range(count)]
    return _written(folder, "data.csv", _csv([header, *rows]))


# Encodings, headers, delimiters.


@made(400, s.GERMAN, "Excel in German: semicolons, Windows-1252, dates 02.01.2023")
def excel_german(folder: Path) -> str:
    texts = Texts(s.GERMAN, fillers="und die der für nicht größer")
    rows = [
        (n, moment(n).strftime("%d.%m.%Y"), texts.text(n, 3), texts.text(n), "1.234,50")
        for n in range(400)
    ]
    header = ("Nr.", "Datum", "Überschrift", "Meldung", "Preis")
    return _written(folder, "meldungen.csv", _csv([header, *rows], ";"), "cp1252")


@made(300, THREE, "UTF-16 with tabs, as Excel saves Unicode text")
def utf16_tabs(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [(moment(n).isoformat(), texts.text(n)) for n in range(300)]
    return _written(folder, "data.txt.csv", _csv([("created", "message"), *rows], "\t"), "utf-16")


@made(
    300,
    THREE,
    "label and text with a tab between them, no header, no times: all 300 rows",
    timed=False,
)
def sms(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [(("ham", "spam")[n % 5 == 0], texts.text(n)) for n in range(300)]
    return _written(folder, "messages.tsv", _csv(rows, "\t"))


@made(300, THREE, "six quoted columns without a header, Twitter's times: all 300 rows")
def tweets_headerless(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [
        (
            4 * (n % 2),
            1467810369 + n,
            moment(n).strftime("%a %b %d %H:%M:%S PDT %Y"),
            "NO_QUERY",
            f"user{n % 37}",
            texts.text(n),
        )
        for n in range(300)
    ]
    return _written(folder, "tweets.csv", _csv(rows, quoting=csv.QUOTE_ALL))


@made(300, THREE, "class, title, text without a header: all 300 rows", timed=False)
def news_headerless(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [(n % 4 + 1, texts.text(n, 5).title(), texts.text(n)) for n in range(300)]
    return _written(folder, "train.csv", _csv(rows, quoting=csv.QUOTE_ALL))


@made(300, THREE, "lines that end in CR alone")
def cr_only(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [(moment(n).date(), texts.text(n)) for n in range(300)]
    return _written(folder, "mac.csv", _csv([("date", "text"), *rows], lineterminator="\r"))


@made(300, THREE, "columns with a bar between them")
def bars(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [(n, moment(n).isoformat(" "), texts.text(n)) for n in range(300)]
    return _written(folder, "export.csv", _csv([("id", "time", "body"), *rows], "|"))


@made(300, THREE, "a byte order mark, an index column without a name, an empty column")
def index_column(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [(n, texts.text(n), "", moment(n).date()) for n in range(300)]
    header = ("", "review", "notes", "review_date")
    return _written(folder, "reviews.csv", _csv([header, *rows]), "utf-8-sig")


@made(
    100, None, "texts with commas and without quotes: told which rows, and what helps",
    said=("fields",),
)  # fmt: skip
def ragged(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [f"{texts.text(n, 5)}, {texts.text(n, 5)},{moment(n).date()}\n" for n in range(100)]
    return _written(folder, "ragged.csv", "text,date\n" + "".join(rows))


@made(300, THREE, "gzipped")
def gzipped(folder: Path) -> str:
    name = _dated(folder, "%Y-%m-%d", Texts(THREE), 300)
    (folder / "data.csv.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    (folder / name).unlink()
    return "data.csv.gz"


@made(300, THREE, "title and body are both text")
def title_and_body(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [
        (texts.text(n, 12), texts.text(n + 300, 13), moment(n).date(), "sport") for n in range(300)
    ]
    return _written(folder, "posts.csv", _csv([("title", "selftext", "day", "flair"), *rows]))


# Times.


@made(400, THREE, "day first, with hours: proved by a day above 12")
def day_first(folder: Path) -> str:
    return _dated(folder, "%d/%m/%Y %H:%M", Texts(THREE))


@made(400, THREE, "month first, twelve hours")
def month_first(folder: Path) -> str:
    return _dated(folder, "%m/%d/%Y %I:%M %p", Texts(THREE))


@made(
    120, THREE, "day or month first cannot be known: asked, and the advice works",
    said=("--timestamp_format",),
)  # fmt: skip
def day_or_month(folder: Path) -> str:
    texts = Texts(THREE)
    days = [f"0{1 + n * 5 % 9}/0{1 + n * 7 % 9}/2023" for n in range(120)]
    rows = [(day, texts.text(n)) for n, day in enumerate(days)]
    return _written(folder, "data.csv", _csv([("date", "text"), *rows]))


@made(400, THREE, "months with names, a blank behind them")
def month_names(folder: Path) -> str:
    return _dated(folder, "%B %d, %Y ", Texts(THREE))


@made(300, THREE, "Twitter's created_at")
def twitter(folder: Path) -> str:
    texts = Texts(THREE)
    form = "%a %b %d %H:%M:%S +0000 %Y"
    records = [
        {"id": 10**18 + n, "created_at": moment(n).strftime(form), "full_text": texts.text(n)}
        for n in range(300)
    ]
    return _lines(folder, "tweets.jsonl", records)


@made(300, THREE, "times as in mail")
def mail_times(folder: Path) -> str:
    texts = Texts(THREE)
    records = [
        {"published": format_datetime(moment(n), usegmt=True), "summary": texts.text(n)}
        for n in range(300)
    ]
    return _lines(folder, "feed.jsonl", records)


@made(400, THREE, "2023-01-02 08:00:00 UTC")
def with_utc(folder: Path) -> str:
    return _dated(
        folder, "%Y-%m-%d %H:%M:%S UTC", Texts(THREE), header=("Created at", "Description")
    )


@made(400, THREE, "2023/01/02")
def slashes(folder: Path) -> str:
    return _dated(folder, "%Y/%m/%d", Texts(THREE))


@made(240, THREE, "months alone: 2023-01")
def months(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [(f"{2005 + n // 12}-{n % 12 + 1:02}", texts.text(n)) for n in range(240)]
    return _written(folder, "data.csv", _csv([("month", "text"), *rows]))


@made(300, s.SPANISH, "a Spanish name of the time, day first")
def fecha(folder: Path) -> str:
    texts = Texts(s.SPANISH, fillers="de la que el en los para con")
    return _dated(folder, "%d-%m-%Y", texts, 300, ("fecha", "mensaje"))


@made(300, THREE, "milliseconds since 1970")
def milliseconds(folder: Path) -> str:
    texts = Texts(THREE)
    records = [
        {"ts": int(moment(n).timestamp() * 1000), "message": texts.text(n)} for n in range(300)
    ]
    return _lines(folder, "events.jsonl", records)


@made(300, THREE, "seconds with fractions, some of them as small as a year")
def float_seconds(folder: Path) -> str:
    texts = Texts(THREE)
    records = [{"timestamp": 1500.25 + 9 * n, "text": texts.text(n)} for n in range(300)]
    return _lines(folder, "experiment.jsonl", records)


@made(300, THREE, "years alone")
def years(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [(1900 + n // 3, texts.text(n)) for n in range(300)]
    return _written(folder, "books.csv", _csv([("year", "abstract"), *rows]))


@made(
    402, THREE, "a time of 1970 and one of 2204 among those of a year: named, the windows stay",
    said=("1970", "2204"),
)  # fmt: skip
def outliers(folder: Path) -> str:
    texts = Texts(THREE)
    records = [{"timestamp": moment(n).isoformat(), "text": texts.text(n)} for n in range(400)]
    for year in ("1970", "2204"):
        records.insert(200, {"timestamp": f"{year}-01-01T00:00:00", "text": texts.text(3)})
    return _lines(folder, "log.jsonl", records)


# Languages and markup.


@made(300, s.CHINESE, "Chinese without a word about it", options=("--topics=3",))
def chinese(folder: Path) -> str:
    return _dated(folder, "%Y-%m-%d", Texts(s.CHINESE, 16, "", "的 了 在"), 300)


@made(300, s.JAPANESE, "Japanese, with a column 日付", options=("--topics=3",))
def japanese(folder: Path) -> str:
    texts = Texts(s.JAPANESE, 16, "", "の は を")
    return _dated(folder, "%Y年%m月%d日", texts, 300, ("日付", "本文"))


@made(300, s.THAI, "Thai without a word about it", options=("--topics=3",))
def thai(folder: Path) -> str:
    return _dated(folder, "%Y-%m-%d", Texts(s.THAI, 16, "", ""), 300)


@made(300, s.KOREAN, "Korean: a particle is no part of a word")
def korean(folder: Path) -> str:
    texts, particles = Texts(s.KOREAN, fillers=""), ("에서", "의", "만", "에게", "보다")
    rows = (
        " ".join(
            f"{word}{particles[(n + place) % 5]}"
            for place, word in enumerate(texts.text(n).split())
        )
        for n in range(300)
    )
    dated = ((f"{moment(n):%Y-%m-%d}", f"{text} 있다") for n, text in enumerate(rows))
    return _written(folder, "data.csv", _csv([("date", "text"), *dated]))


@made(300, s.HINDI, "Hindi", options=("--topics=3",))
def hindi(folder: Path) -> str:
    return _dated(folder, "%Y-%m-%d", Texts(s.HINDI, fillers="और है का में"), 300)


@made(300, s.ARABIC, "Arabic, half of it with tashkeel: one word each", options=("--topics=3",))
def arabic(folder: Path) -> str:
    texts = Texts(s.ARABIC, fillers="في من على")
    rows = []
    for n in range(300):
        text = texts.text(n)
        if n % 2:
            text = " ".join(word[0] + "\N{ARABIC FATHA}" + word[1:] for word in text.split())
        rows.append((moment(n).date(), text))
    return _written(folder, "data.csv", _csv([("date", "text"), *rows]))


@made(300, THREE, "HTML in a help desk's export: no word of a tag", said=("strip",))
def html(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [
        (
            100 + n,
            moment(n).strftime("%Y-%m-%d %H:%M:%S UTC"),
            f'<p>Hi&nbsp;team,</p><div class="comment">{texts.text(n)}<br/><pre><code>x</code>'
            f'</pre></div><a href="https://example.com/{n}">link</a>',
        )
        for n in range(300)
    ]
    return _written(
        folder, "tickets.csv", _csv([("Ticket ID", "Created at", "Description"), *rows])
    )


@made(300, THREE, "replies with quotes and signatures: told, with the option that removes them",
      said=("--strip=",), least=0.4)  # fmt: skip
def quoted_mail(folder: Path) -> str:
    texts = Texts(THREE)
    records = [
        {
            "date": moment(n).isoformat(),
            "body": f"{texts.text(n)}\n\nOn Mon, Jan 2, 2023, Ann wrote:\n> {texts.text(n + 1)}\n"
            f"> {texts.text(n + 1)}\n-- \nAnn Example\nAcme Incorporated, Head of Quotes",
        }
        for n in range(300)
    ]
    return _lines(folder, "support.jsonl", records)


@made(
    300, s.CODES, "codes are words: P0420, KB5034441, v2.4.1, 5G, covid19, IL-6",
    options=("--topics=3",),
)  # fmt: skip
def codes(folder: Path) -> str:
    return _dated(folder, "%Y-%m-%d", Texts(s.CODES), 300)


# Other formats.


@made(120, THREE, "a folder of texts, a date in each name")
def text_folder(folder: Path) -> str:
    texts = Texts(THREE, 30)
    (folder / "letters").mkdir()
    for n in range(120):
        _written(folder / "letters", f"{moment(n, 24).date()} letter.txt", texts.text(n))
    return "letters"


def _message(texts: Texts, n: int) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = f"a{n % 7}@example.org", "list@example.org"
    message["Subject"] = f"Re: {texts.text(n, 3)}"
    message["Date"] = format_datetime(moment(n))
    message["Message-ID"] = f"<{n}@example.org>"
    message.set_content(texts.text(n, 25), cte="quoted-printable")
    if n % 3 == 0:
        message.add_alternative(f"<p>{texts.text(n, 25)}</p>", subtype="html")
    return message


@made(150, THREE, "a mailbox")
def mailbox(folder: Path) -> str:
    texts = Texts(THREE)
    parts = [
        b"From a@example.org Mon Jan  2 08:00:00 2023\n" + _message(texts, n).as_bytes() + b"\n"
        for n in range(150)
    ]
    (folder / "archive.mbox").write_bytes(b"".join(parts))
    return "archive.mbox"


@made(120, THREE, "a folder of mails")
def mails(folder: Path) -> str:
    texts = Texts(THREE)
    (folder / "mails").mkdir()
    for n in range(120):
        (folder / "mails" / f"{n}.eml").write_bytes(_message(texts, n).as_bytes())
    return "mails"


@made(200, THREE, "a sheet of Excel")
def sheet(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [("Date", "Feedback"), *((f"{moment(n):%Y-%m-%d}", texts.text(n)) for n in range(200))]
    cells = "".join(
        f'<row r="{r}">'
        + "".join(
            f'<c r="{"AB"[c]}{r}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
            for c, value in enumerate(row)
        )
        + "</row>"
        for r, row in enumerate(rows, 1)
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override'
        f' PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/><Override'
        f' PartName="/xl/worksheets/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1"'
        f' Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet'
        ' name="Feedback" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="rId1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData>'
        "</worksheet>",
    }  # fmt: skip
    with zipfile.ZipFile(folder / "feedback.xlsx", "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in parts.items():
            out.writestr(name, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>{text}')
    return "feedback.xlsx"


@made(100, THREE, "an export of conversations, each with a tree of messages")
def conversations(folder: Path) -> str:
    texts = Texts(THREE)
    chats = []
    for n in range(100):
        nodes: dict[str, object] = {"root": {"id": "root", "parent": None, "children": ["m0"]}}
        for turn in range(4):
            nodes[f"m{turn}"] = {
                "id": f"m{turn}",
                "parent": f"m{turn - 1}" if turn else "root",
                "children": [f"m{turn + 1}"] if turn < 3 else [],
                "message": {
                    "author": {"role": ("user", "assistant")[turn % 2]},
                    "create_time": moment(n).timestamp() + turn,
                    "content": {"content_type": "text", "parts": [texts.text(n + 300 * turn)]},
                },
            }
        chats.append(
            {
                "title": texts.text(n, 2),
                "create_time": moment(n).timestamp(),
                "id": f"c{n}",
                "mapping": nodes,
            }
        )
    return _written(folder, "conversations.json", json.dumps(chats))


@made(100, THREE, "conversations with a list of messages in each line")
def chats(folder: Path) -> str:
    texts = Texts(THREE)
    records = [
        {
            "id": f"c{n}",
            "created_at": moment(n).isoformat(),
            "messages": [
                {"role": ("user", "assistant")[turn % 2], "content": texts.text(n + 300 * turn)}
                for turn in range(3)
            ],
        }
        for n in range(100)
    ]
    return _lines(folder, "chats.jsonl", records)


@made(200, THREE, "an object with the records below a key")
def below_a_key(folder: Path) -> str:
    texts = Texts(THREE)
    records = [{"date": moment(n).isoformat(), "text": texts.text(n)} for n in range(200)]
    return _written(folder, "answer.json", json.dumps({"total": 200, "data": records}, indent=1))


@made(300, THREE, "Parquet with times of its own")
def parquet(folder: Path) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = Texts(THREE)
    table = pa.table(
        {
            "when": [moment(n) for n in range(300)],
            "comment": texts.texts(300),
            "rating": [n % 5 for n in range(300)],
        }
    )
    pq.write_table(table, folder / "reviews.parquet")
    return "reviews.parquet"


def _partitions(folder: Path, name: str) -> str:
    """Write a table as Spark does, a part for each day, and return its name."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = Texts(THREE)
    for day in range(1, 31):
        place = folder / "events" / name.format(day)
        place.mkdir(parents=True)
        rows = range(10 * day, 10 * day + 10)
        table = pa.table({"id": [f"e{n}" for n in rows], "message": [texts.text(n) for n in rows]})
        pq.write_table(table, place / "part-00000.c000.snappy.parquet")
        (place / ".part-00000.c000.snappy.parquet.crc").write_bytes(b"crc")
    (folder / "events" / "_SUCCESS").write_bytes(b"")
    return "events"


@made(300, THREE, "Spark's output, a folder a day: its marks are passed over, the days are times")
def spark_days(folder: Path) -> str:
    return _partitions(folder, "dt=2024-01-{:02}")


@made(300, THREE, "Spark's output in folders of years, months and days")
def spark_parts(folder: Path) -> str:
    return _partitions(folder, "year=2024/month=1/day={}")


def _timed(folder: Path, times: Sequence[object], texts: Texts) -> str:
    rows = [(times[n * len(times) // 300], texts.text(n)) for n in range(300)]
    return _written(folder, "data.csv", _csv([("Period", "text"), *rows]))


@made(300, THREE, "times as 2020Q1: read")
def quarters(folder: Path) -> str:
    return _timed(folder, [f"{2019 + n // 4}Q{n % 4 + 1}" for n in range(16)], Texts(THREE))


@made(300, THREE, "times as Q1 2020: read")
def quarters_first(folder: Path) -> str:
    return _timed(folder, [f"Q{n % 4 + 1} {2019 + n // 4}" for n in range(16)], Texts(THREE))


_SHORT = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@made(300, THREE, "times as Jan-19: asked, a month of a year or a day", said=("%b-%y",),
      answer="--timestamp_format=")  # fmt: skip
def month_and_year(folder: Path) -> str:
    return _timed(folder, [f"{name}-19" for name in _SHORT], Texts(THREE))


@made(300, THREE, "times as 19 March: asked, too", said=("--time_from=order",),
      answer="--timestamp_format=")  # fmt: skip
def year_and_month(folder: Path) -> str:
    return _timed(folder, [f"19 {name}" for name in _SHORT], Texts(THREE))


# What has to be told.


@made(400, THREE, "the same ids in two files: learned, and told", said=("id",))
def repeated_ids(folder: Path) -> str:
    texts = Texts(THREE)
    for part in range(2):
        records = [
            {
                "id": n,
                "timestamp": moment(n + 200 * part).isoformat(),
                "text": texts.text(n + 200 * part),
            }
            for n in range(200)
        ]
        _lines(folder, f"part{part}.jsonl", records)
    return "*.jsonl"


@made(0, None, "stop words alone: refused, with the reason", said=("stop",))
def stop_words(folder: Path) -> str:
    return _dated(folder, "%Y-%m-%d", Texts({"none": "the and of to"}), 200)


@made(0, None, "numbers alone: refused, with the reason and an option", said=("number",))
def numbers(folder: Path) -> str:
    return _dated(
        folder,
        "%Y-%m-%d",
        Texts({"none": " ".join(map(str, range(30000, 30020)))}, fillers=""),
        200,
    )


@made(300, None, "a third has no word: learned, and none of them has a topic", least=0)
def emptied(folder: Path) -> str:
    texts = Texts(THREE)
    rows = [(moment(n).date(), "the and of" if n % 3 == 0 else texts.text(n)) for n in range(300)]
    return _written(folder, "data.csv", _csv([("date", "text"), *rows]))


@made(12, None, "12 documents: a remark on 50 topics", said=("topics",))
def few(folder: Path) -> str:
    return _dated(folder, "%Y-%m-%d", Texts(THREE, 25), 12)
