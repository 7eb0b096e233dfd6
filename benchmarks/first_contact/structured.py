"""Inputs whose texts are below the top level of records, or in the lines of one file."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from benchmarks.first_contact.inputs import THREE, _lines, _written, made, moment
from benchmarks.first_contact.subjects import Texts


@made(400, THREE, "events of a code host: the texts are two levels down", answer="--text_field=")
def events(folder: Path) -> str:
    texts, kinds = Texts(THREE), ("IssueCommentEvent", "PullRequestReviewEvent")
    payloads = (
        {"action": "created", "comment": {"id": n, "body": texts.text(n)}}
        if n % 2
        else {"action": "submitted", "review": {"id": n, "body": texts.text(n)}}
        for n in range(400)
    )
    records = [
        {
            "id": str(n),
            "type": kinds[n % 2],
            "actor": {"id": n % 9, "login": f"u{n % 9}", "url": f"https://example.org/u{n % 9}"},
            "payload": payload,
            "created_at": moment(n).isoformat(),
        }
        for n, payload in enumerate(payloads)
    ]
    return _lines(folder, "events.jsonl", records)


@made(300, THREE, "a dump of an index: the texts are in _source")
def dump(folder: Path) -> str:
    texts = Texts(THREE)
    records = [
        {
            "_index": "posts",
            "_id": f"{n:020x}",
            "_source": {"text": texts.text(n), "published": moment(n).isoformat()},
        }
        for n in range(300)
    ]
    return _lines(folder, "dump.json", records)


@made(300, THREE, "all chats in one object: chats.list[].messages", answer="--records=")
def all_chats(folder: Path) -> str:
    texts = Texts(THREE)
    chats = [
        {
            "name": f"chat {chat}",
            "messages": [
                {
                    "id": n,
                    "date": f"{moment(n):%Y-%m-%dT%H:%M:%S}",
                    "text": [texts.text(n, 8), {"type": "bold", "text": texts.text(n, 8)}],
                }
                for n in range(chat, 300, 3)
            ],
        }
        for chat in range(3)
    ]
    return _written(folder, "result.json", json.dumps({"about": "", "chats": {"list": chats}}))


@made(300, THREE, "pages of an API, one in each line: data", answer="--records=")
def pages(folder: Path) -> str:
    texts = Texts(THREE)
    records = [
        {
            "data": [
                {"id": str(n), "created_at": moment(n).isoformat(), "text": texts.text(n)}
                for n in range(page * 30, page * 30 + 30)
            ],
            "includes": {"users": [{"id": "1", "name": "Ann"}]},
            "meta": {"result_count": 30},
        }
        for page in range(10)
    ]
    return _lines(folder, "pages.jsonl", records)


@made(
    400,
    THREE,
    "a document in each line, with commas and quotes",
    timed=False,
    answer="--format=lines",
)
def document_lines(folder: Path) -> str:
    texts = Texts(THREE)
    lines = ('"' * (n % 5 == 0) + texts.text(n).replace(" ", ", ", n % 4) for n in range(400))
    return _written(folder, "corpus.txt", "\n".join(lines))


@made(300, THREE, "MALLET: name, label, text", timed=False, answer="--format=lines --columns")
def mallet(folder: Path) -> str:
    texts = Texts(THREE)
    lines = (f"doc{n} {('en', 'de')[n % 2]} {texts.text(n)}\n" for n in range(300))
    return _written(folder, "docs.txt", "".join(lines))


@made(300, THREE, "a chat of WhatsApp: 12 hours, month first", answer="--format=chat")
def chat_12_hours(folder: Path) -> str:
    texts = Texts(THREE)
    lines = (
        f"[{moment(n):%m/%d/%y, %I:%M:%S}\u202f{moment(n):%p}] Ann: {texts.text(n, 8)}\n"
        f"{texts.text(n, 8)}\n\u200e[{moment(n):%m/%d/%y, %I:%M:%S %p}] Ben: \u200eimage omitted\n"
        for n in range(300)
    )
    return _written(folder, "_chat.txt", "".join(lines))


@made(300, THREE, "a chat of WhatsApp: 24 hours, day first", answer="--format=chat")
def chat_24_hours(folder: Path) -> str:
    texts = Texts(THREE)
    lines = (
        f"{moment(n):%d/%m/%Y, %H:%M} - {('Ann', 'Ben B')[n % 2]}: {texts.text(n)}\n"
        for n in range(300)
    )
    return _written(folder, "WhatsApp Chat with Ann.txt", "".join(lines))


@made(300, THREE, "a log of IRC", answer="--format=chat")
def irc(folder: Path) -> str:
    texts, start = Texts(THREE), moment(0)
    lines = (
        f"{start + timedelta(hours=n):%Y-%m-%d %H:%M:%S} <@ann> {texts.text(n)}\n"
        f"{start + timedelta(hours=n):%Y-%m-%d %H:%M:%S} -!- ben has joined\n"
        for n in range(300)
    )
    return _written(folder, "irc.txt", "--- Log opened\n" + "".join(lines))
