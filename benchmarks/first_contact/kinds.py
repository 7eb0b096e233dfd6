"""Inputs of the kinds that people bring, in two spellings each.

Texts are below the top level of records, in the lines of one file, or in folders as tools write
them; times, ids and columns are written in unusual ways.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

from benchmarks.first_contact import subjects as s
from benchmarks.first_contact.inputs import THREE, _csv, _lines, _written, made, moment
from benchmarks.first_contact.subjects import Texts

_TEXTS = Texts(THREE)
# The first date of the days of Excel.
_EXCEL = 44_928
_RUSSIAN = "января февраля марта апреля мая июня июля августа сентября октября ноября декабря"


def _day(number: int) -> str:
    return f"{moment(number):%Y-%m-%d}"


def _records(count: int, **others: object) -> list[dict[str, object]]:
    return [
        {"id": n, "created_at": moment(n).isoformat(), "text": _TEXTS.text(n), **others}
        for n in range(count)
    ]


def _files(folder: Path, texts: Iterable[tuple[str, str]]) -> None:
    for name, text in texts:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _dates(folder: Path, values: Iterable[object], name: str = "date") -> str:
    rows = [(value, _TEXTS.text(n)) for n, value in enumerate(values)]
    return _written(folder, "data.csv", _csv([(name, "text"), *rows]))


# Texts below the top level.


@made(300, THREE, "one kind of event of a code host: one path has the text")
def comment_events(folder: Path) -> str:
    records = [
        {
            "id": str(n),
            "type": "IssueCommentEvent",
            "actor": {"id": n % 9, "login": f"u{n % 9}"},
            "repo": {"name": f"org/repo{n % 7}"},
            "payload": {"action": "created", "comment": {"id": n, "body": _TEXTS.text(n)}},
            "created_at": moment(n).isoformat(),
        }
        for n in range(300)
    ]
    return _lines(folder, "2024-01-01-15.json", records)


@made(120, THREE, "papers, a file each: the pieces of body_text are one text",
      timed=False, answer="--text_field=")  # fmt: skip
def papers_folder(folder: Path) -> str:
    _files(
        folder,
        (
            (
                f"papers/{n:08x}.json",
                json.dumps(
                    {
                        "paper_id": f"{n:08x}",
                        "metadata": {"title": _TEXTS.text(n, 5), "authors": [{"first": "Ann"}]},
                        "body_text": [
                            {"text": _TEXTS.text(n, 12 + k), "section": "Results"} for k in range(4)
                        ],
                    },
                    indent=1,
                ),
            )
            for n in range(120)
        ),
    )
    return "papers"


@made(300, THREE, "papers in lines, with an abstract of pieces", answer="--text_field=")
def papers_lines(folder: Path) -> str:
    records = [
        {
            "paper_id": f"{n:08x}",
            "publish_time": _day(n),
            "body_text": [{"text": _TEXTS.text(n, 12 + k), "section": "Body"} for k in range(2)],
        }
        for n in range(300)
    ]
    return _lines(folder, "papers.jsonl", records)


@made(300, THREE, "changes of a database, with an envelope")
def changes(folder: Path) -> str:
    records = [
        {
            "payload": {
                "before": None,
                "after": {"id": n, "body": _TEXTS.text(n), "state": "open"},
                "source": {"connector": "postgresql", "db": "shop", "table": "tickets"},
                "op": "c",
                "ts_ms": int(moment(n).timestamp() * 1000),
            }
        }
        for n in range(300)
    ]
    return _lines(folder, "changes.jsonl", records)


@made(300, THREE, "changes of a database, with the schema in each")
def changes_with_schema(folder: Path) -> str:
    fields = [{"type": "string", "optional": False, "field": name} for name in ("id", "message")]
    records = [
        {
            "schema": {"type": "struct", "fields": fields, "name": "shop.Value"},
            "payload": {
                "after": {"id": n, "message": _TEXTS.text(n), "at": moment(n).isoformat()},
                "op": "r",
            },
        }
        for n in range(300)
    ]
    return _lines(folder, "changes.json", records)


@made(300, THREE, "an export of a workspace: a file for each channel and day, lists of users")
def workspace(folder: Path) -> str:
    users = [
        {"id": f"U{n}", "name": f"ann{n}", "profile": {"real_name": f"Ann {n}", "title": "She"}}
        for n in range(12)
    ]
    channels = [{"id": f"C{n}", "name": f"c{n}", "topic": {"value": "all"}} for n in range(3)]
    texts = [
        ("export/users.json", json.dumps(users)),
        ("export/channels.json", json.dumps(channels)),
    ]
    for day in range(30):
        messages = [
            {
                "type": "message",
                "user": f"U{n % 12}",
                "text": _TEXTS.text(n),
                "ts": f"{moment(day, 24).timestamp() + n:.6f}",
            }
            for n in range(day * 10, day * 10 + 10)
        ]
        texts.append((f"export/c{day % 3}/{moment(day, 24):%Y-%m-%d}.json", json.dumps(messages)))
    _files(folder, texts)
    return "export"


@made(300, THREE, "a channel in one object: messages", answer="--records=")
def channel(folder: Path) -> str:
    messages = [
        {
            "id": str(n),
            "type": "Default",
            "timestamp": moment(n).isoformat(),
            "content": _TEXTS.text(n),
            "author": {"id": "1", "name": "ann", "roles": [{"id": "2", "name": "Admin"}]},
            "attachments": [],
        }
        for n in range(300)
    ]
    return _written(
        folder,
        "channel.json",
        json.dumps({"guild": {"name": "g"}, "channel": {"name": "c"}, "messages": messages}),
    )


@made(300, THREE, "an answer of an index: hits.hits[]._source", answer="--records=")
def hits(folder: Path) -> str:
    found = [
        {
            "_id": f"{n:x}",
            "_score": 1.0,
            "_source": {"message": _TEXTS.text(n), "@timestamp": moment(n).isoformat()},
        }
        for n in range(300)
    ]
    return _written(folder, "hits.json", json.dumps({"took": 3, "hits": {"hits": found}}))


@made(300, THREE, "a listing of a forum: data.children[].data", answer="--records=")
def listing(folder: Path) -> str:
    children = [
        {
            "kind": "t3",
            "data": {
                "id": f"{n:x}",
                "selftext": _TEXTS.text(n, 30),
                "title": _TEXTS.text(n, 4),
                "created_utc": moment(n).timestamp(),
            },
        }
        for n in range(300)
    ]
    return _written(folder, "new.json", json.dumps({"kind": "L", "data": {"children": children}}))


# One file, many documents.


@made(300, THREE, "MALLET with tabs", timed=False, answer="--format=lines --columns")
def mallet_tabs(folder: Path) -> str:
    lines = (f"doc{n}\t{('en', 'de')[n % 2]}\t{_TEXTS.text(n)}\n" for n in range(300))
    return _written(folder, "docs.txt", "".join(lines))


def _extracted(first: int, count: int) -> str:
    return "".join(
        f'<doc id="{n}" url="https://example.org/wiki?curid={n}" title="Page {n}">\nPage {n}\n\n'
        f"{_TEXTS.text(n, 20)}.\n{_TEXTS.text(n, 21)}.\n\n</doc>\n"
        for n in range(first, first + count)
    )


@made(200, THREE, "articles of wikiextractor in a text", timed=False, answer="--format=doc")
def articles_text(folder: Path) -> str:
    return _written(folder, "wiki.txt", _extracted(0, 200))


@made(200, THREE, "articles of wikiextractor in files without endings",
      timed=False, answer="--format=doc")  # fmt: skip
def articles_folder(folder: Path) -> str:
    _files(folder, ((f"out/A{k // 2}/wiki_0{k % 2}", _extracted(k * 50, 50)) for k in range(4)))
    return "out"


@made(200, THREE, "articles in JSON lines in files without endings", timed=False,
      answer="--format=jsonl")  # fmt: skip
def articles_json(folder: Path) -> str:
    _files(
        folder,
        (
            (
                f"out/AA/wiki_0{k}",
                "".join(
                    json.dumps({"id": str(n), "title": f"Page {n}", "text": _TEXTS.text(n, 30)})
                    + "\n"
                    for n in range(k * 50, k * 50 + 50)
                ),
            )
            for k in range(4)
        ),
    )
    return "out"


def _mail(number: int) -> str:
    mail = EmailMessage()
    mail["Message-ID"] = f"<{number}.JavaMail@thyme>"
    mail["Date"] = format_datetime(moment(number))
    mail["From"], mail["To"], mail["Subject"] = "ann@example.org", "ben@example.org", "Re: tea"
    mail["X-Folder"], mail["X-Origin"] = "\\Ann_Sent Mail", "Allen-P"
    mail.set_content(_TEXTS.text(number))
    return mail.as_string()


@made(
    200,
    THREE,
    "mails in a column: asked, because the headers are no text",
    answer="--records=",
    least=0.5,
)
def mails_in_column(folder: Path) -> str:
    rows = [(f"allen-p/_sent_mail/{n}.", _mail(n)) for n in range(200)]
    return _written(folder, "emails.csv", _csv([("file", "message"), *rows]))


@made(200, THREE, "mails in a field of JSON lines: asked, because the headers are no text",
      answer="--records=")  # fmt: skip
def mails_in_field(folder: Path) -> str:
    return _lines(folder, "mails.jsonl", ({"id": n, "raw": _mail(n)} for n in range(200)))


@made(300, THREE, "a chat of WhatsApp with points in its dates", answer="--format=chat")
def chat_points(folder: Path) -> str:
    lines = (f"[{moment(n):%d.%m.%y, %H:%M:%S}] Ann: {_TEXTS.text(n)}\n" for n in range(300))
    return _written(folder, "_chat.txt", "".join(lines))


@made(300, THREE, "a log of IRC with times alone, and days between", timed=False,
      answer="--format=chat")  # fmt: skip
def irc_times(folder: Path) -> str:
    lines = []
    for n in range(300):
        if n % 24 == 0:
            lines.append(f"--- Day changed {moment(n // 24, 24):%a %b %d %Y}\n")
        lines.append(f"{n % 24:02}:05 < ann> {_TEXTS.text(n)}\n")
    return _written(folder, "chan.log.txt", "".join(lines))


@made(300, s.CHINESE, "Chinese, a document in each line", timed=False, answer="--format=lines",
      options=("--topics=3",))  # fmt: skip
def chinese_lines(folder: Path) -> str:
    texts = Texts(s.CHINESE, glue="", fillers="的 和 是")
    return _written(folder, "corpus.txt", "\n".join(texts.texts(300)))


@made(300, THREE, "queries, a few words in each line", timed=False, answer="--format=lines",
      options=("--topics=3",))  # fmt: skip
def queries(folder: Path) -> str:
    texts = Texts(THREE, fillers="")
    return _written(folder, "queries.txt", "\n".join(texts.text(n, 2) for n in range(300)))


@made(300, THREE, "a label of fastText before the text of each line", timed=False,
      answer="--format=lines --columns")  # fmt: skip
def fasttext(folder: Path) -> str:
    lines = (f"__label__{('a', 'b')[n % 2]} {_TEXTS.text(n)}\n" for n in range(300))
    return _written(folder, "train.txt", "".join(lines))


# Folders as tools write them.


@made(300, THREE, "Spark's CSV: a header in each part, markers and checksums")
def spark_csv(folder: Path) -> str:
    texts = [("out/_SUCCESS", ""), ("out/._SUCCESS.crc", "x")]
    for k in range(6):
        rows = [(n, _day(n), _TEXTS.text(n)) for n in range(k * 50, k * 50 + 50)]
        texts.append((f"out/part-0000{k}-a1b2.csv", _csv([("id", "date", "text"), *rows])))
        texts.append((f"out/.part-0000{k}-a1b2.csv.crc", "crc"))
    _files(folder, texts)
    return "out"


@made(300, THREE, "folders dt=, JSON lines without times")
def hive_days(folder: Path) -> str:
    _files(
        folder,
        (
            (
                f"events/dt={moment(k, 24):%Y-%m-%d}/part-0.json",
                "".join(
                    json.dumps({"event_id": f"e{n}", "body": _TEXTS.text(n)}) + "\n"
                    for n in range(k * 10, k * 10 + 10)
                ),
            )
            for k in range(30)
        ),
    )
    return "events"


@made(300, THREE, "folders year=/month=/day=, CSV")
def hive_months(folder: Path) -> str:
    _files(
        folder,
        (
            (
                f"t/year=2023/month={k // 15 + 1}/day={k % 15 + 1}/p.csv",
                _csv([("id", "body"), *((n, _TEXTS.text(n)) for n in range(k * 10, k * 10 + 10))]),
            )
            for k in range(30)
        ),
    )
    return "t"


@made(150, THREE, "a folder for each group, files without endings", timed=False,
      answer="--format=txt")  # fmt: skip
def newsgroups(folder: Path) -> str:
    _files(
        folder, ((f"news/{THREE_NAMES[n % 3]}/{5000 + n}", _TEXTS.text(n, 30)) for n in range(150))
    )
    return "news"


THREE_NAMES = tuple(THREE)


@made(150, THREE, "texts in a folder and in its subfolders", timed=False,
      answer="'notes/**")  # fmt: skip
def mixed_levels(folder: Path) -> str:
    names = ((f"notes/{n}.txt", f"notes/old/{n}.txt")[n % 2] for n in range(150))
    _files(folder, ((name, _TEXTS.text(n, 30)) for n, name in enumerate(names)))
    return "notes"


@made(150, THREE, "names with brackets, commas and percent signs", timed=False)
def odd_names(folder: Path) -> str:
    _files(
        folder,
        ((f"my notes, [2024]/100%25 {n}, a[b].txt", _TEXTS.text(n, 30)) for n in range(150)),
    )
    return "my notes, [2024]"


@made(150, THREE, "texts beside a table about them: asked, or the texts are learned",
      timed=False, said=("1 of other endings",))  # fmt: skip
def texts_and_table(folder: Path) -> str:
    rows = [(f"{n}.txt", 1990 + n % 20, "Ann") for n in range(150)]
    _files(folder, [("corpus/metadata.csv", _csv([("file", "year", "author"), *rows]))])
    _files(folder, ((f"corpus/{n}.txt", _TEXTS.text(n, 30)) for n in range(150)))
    return "corpus"


# Times.


@made(300, THREE, "a dump of MongoDB: $oid and $date in words")
def mongo_words(folder: Path) -> str:
    records = (
        {
            "_id": {"$oid": f"{n:024x}"},
            "body": _TEXTS.text(n),
            "createdAt": {"$date": f"{moment(n):%Y-%m-%dT%H:%M:%S.000Z}"},
        }
        for n in range(300)
    )
    return _lines(folder, "dump.json", records)


@made(300, THREE, "a dump of MongoDB: $date in numbers")
def mongo_numbers(folder: Path) -> str:
    records = (
        {
            "_id": {"$oid": f"{n:024x}"},
            "body": _TEXTS.text(n),
            "createdAt": {"$date": {"$numberLong": str(int(moment(n).timestamp() * 1000))}},
        }
        for n in range(300)
    )
    return _lines(folder, "dump.json", records)


@made(300, THREE, "days of Excel: asked", answer="--timestamp_format=excel")
def excel_days(folder: Path) -> str:
    return _dates(folder, (_EXCEL + n for n in range(300)), "Date")


@made(300, THREE, "days of Excel with a part of the day: asked", answer="--timestamp_format=excel")
def excel_hours(folder: Path) -> str:
    return _dates(folder, (f"{_EXCEL + n / 2:.5f}" for n in range(300)), "created")


@made(300, THREE, "Jan-19: asked", answer="--timestamp_format=%b-%y")
def month_year(folder: Path) -> str:
    return _dates(folder, (f"{moment(n // 10, 24 * 31):%b-%y}" for n in range(300)))


@made(300, THREE, "2019-Q1", timed=True)
def quarters_dash(folder: Path) -> str:
    return _dates(folder, (f"{2015 + n // 40}-Q{n // 10 % 4 + 1}" for n in range(300)), "period")


@made(300, THREE, "Q1/2019", timed=True)
def quarters_slash(folder: Path) -> str:
    return _dates(folder, (f"Q{n // 10 % 4 + 1}/{2015 + n // 40}" for n in range(300)), "quarter")


@made(300, THREE, "2019/20: seasons", timed=True, answer="--timestamp_format")
def seasons(folder: Path) -> str:
    values = (f"{1990 + n // 10}/{(91 + n // 10) % 100:02}" for n in range(300))
    return _dates(folder, values, "season")


@made(300, THREE, "years among days: told", said=("20 of 320", "another form"))
def years_among_days(folder: Path) -> str:
    return _dates(folder, (_day(n) if n % 16 else f"{moment(n):%Y}" for n in range(320)))


@made(300, THREE, "years of the Buddhist calendar: asked",
      answer="--timestamp_format=buddhist")  # fmt: skip
def buddhist(folder: Path) -> str:
    return _dates(folder, (f"{moment(n).year + 543}-{moment(n):%m-%d}" for n in range(300)))


@made(300, THREE, "numbers that a spreadsheet has rounded", timed=True, said=("rounded",))
def rounded(folder: Path) -> str:
    values = (f"{moment(n, 24 * 7).timestamp() * 1000:.5E}" for n in range(300))
    return _dates(folder, values, "timestamp")


@made(300, THREE, "months in Russian", timed=True)
def russian_months(folder: Path) -> str:
    names = _RUSSIAN.split()
    values = (
        f"{moment(n).day} {names[moment(n).month - 1]} {moment(n).year} г." for n in range(300)
    )
    return _dates(folder, values, "дата")


@made(300, THREE, "times in CET", timed=True)
def cet(folder: Path) -> str:
    return _dates(folder, (f"{moment(n):%Y-%m-%d %H:%M:%S} CET" for n in range(300)))


@made(300, THREE, "times in IST, which are three zones: asked", timed=True,
      answer="--timestamp_format")  # fmt: skip
def ist(folder: Path) -> str:
    return _dates(folder, (f"{moment(n):%Y-%m-%d %H:%M:%S} IST" for n in range(300)))


@made(300, THREE, "an archive: the day of its last change beside that of its first version",
      timed=True, answer="--timestamp_field")  # fmt: skip
def archive(folder: Path) -> str:
    records = (
        {
            "id": f"0704.{n:04}",
            "title": _TEXTS.text(n, 5),
            "abstract": _TEXTS.text(n, 30),
            "versions": [{"version": "v1", "created": format_datetime(moment(n), usegmt=True)}],
            "update_date": f"{moment(n) + timedelta(days=n * 7 % 900):%Y-%m-%d}",
        }
        for n in range(300)
    )
    return _lines(folder, "archive.json", records)


@made(450, THREE, "50 of 500 dates are missing: told", said=("50 of 500",))
def missing_dates(folder: Path) -> str:
    return _dates(folder, ("" if n % 10 == 3 else _day(n) for n in range(500)))


@made(450, THREE, "50 of 500 dates are not known: told", said=("50 of 500",))
def unknown_dates(folder: Path) -> str:
    return _dates(folder, ("n/a" if n % 10 == 3 else _day(n) for n in range(500)))


# Repeated ids and columns.


@made(300, THREE, "each message three times: told", said=("more than once",))
def three_times(folder: Path) -> str:
    return _lines(folder, "all.jsonl", (one for one in _records(300) for _ in range(3)))


@made(300, THREE, "corrected posts: the first stays, and it is told", said=("more than once",))
def edits(folder: Path) -> str:
    rows = [(n, _day(n), _TEXTS.text(n)) for n in range(300)]
    again = [(n, _day(n), _TEXTS.text(n, 15)) for n in range(0, 300, 4)]
    return _written(folder, "posts.csv", _csv([("id", "date", "text"), *rows, *again]))


@made(300, THREE, "two columns of one name", answer="--text_field=")
def columns_twice(folder: Path) -> str:
    rows = [
        (f"P-{n}", _TEXTS.text(n, 5), _day(n), _TEXTS.text(n, 20), _TEXTS.text(n, 21))
        for n in range(300)
    ]
    header = ("Issue key", "Summary", "Created", "Comment", "Comment")
    return _written(folder, "Jira.csv", _csv([header, *rows]))


@made(300, THREE, "a name with a comma in it")
def comma_name(folder: Path) -> str:
    rows = [(n, _day(n), _TEXTS.text(n)) for n in range(300)]
    return _written(folder, "form.csv", _csv([("Nr", "Date", "Comment, free text"), *rows]))


# Words.


@made(300, THREE, "entities in a few texts", said=())
def entities(folder: Path) -> str:
    values = [
        (_day(n), _TEXTS.text(n) + " &amp; &gt; https://t.co/a" * (n % 8 == 0)) for n in range(300)
    ]
    return _written(folder, "tweets.csv", _csv([("date", "text"), *values]))


@made(300, THREE, "a table in a text with tabs and a header", timed=True, answer="--format=csv")
def table_in_text(folder: Path) -> str:
    rows: Sequence[Sequence[object]] = [(n, _day(n), _TEXTS.text(n)) for n in range(300)]
    out = io.StringIO(newline="")
    csv.writer(out, delimiter="\t").writerows([("id", "date", "text"), *rows])
    return _written(folder, "data.txt", out.getvalue())
