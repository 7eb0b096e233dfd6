"""Make the documents of the pages in docs/tasks: ``python -m benchmarks.task_data tickets``.

``tickets``, ``news`` and ``chats`` write files into the current folder, always the same bytes. The
texts are words drawn from lists. In each set one subject grows in the last days: cards that are
charged twice, a dam that breaks, an assistant that forgets. Of the news six outlets send one report
of each day. People in the chats give addresses and numbers. All names and numbers are invented.
"""

from __future__ import annotations

import csv
import json
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 1, 5, tzinfo=UTC)
FILLERS = ["today", "again", "please", "still", "since", "yesterday", "suddenly", "really"]
PEOPLE = ["Amara", "Bela", "Chidi", "Dana", "Emre", "Farah", "Goran", "Hana", "Ines", "Jonas"]
OUTLETS = ["north", "south", "east", "west", "city", "coast"]
# The last subject of each set is the one that grows.
TICKETS = {
    "login": "password login account reset code locked email verify sign token",
    "delivery": "parcel delivery courier address late tracking warehouse box arrived depot",
    "invoice": "invoice billing tax receipt company vat download number quarter month",
    "crash": "app crash update phone screen freeze version install restart error",
    "export": "export report table column filter dashboard chart date csv rows",
    "charges": "charged twice card payment refund bank double statement debit money",
}
NEWS = {
    "football": "match goal team coach season league striker stadium victory defender penalty cup"
    " fans referee club final keeper transfer derby draw",
    "markets": "shares bank profit index investors rates bonds traders earnings inflation euro"
    " quarter dividend merger oil debt analysts exports currency loss",
    "weather": "rain storm wind flood forecast temperature river warning snow thunder coast clouds"
    " drought frost heat meteorologists sun ice hail fog",
    "parliament": "minister vote government parliament bill opposition party debate law budget"
    " coalition reform election committee speech tax deputies cabinet amendment majority",
    "health": "hospital patients doctors vaccine trial disease clinic treatment virus nurses dose"
    " surgery cancer infection study drug symptoms therapy ward insurance",
    "dam": "flood river Velmora dam rain evacuated sandbags warning storm bridge levee water"
    " helicopters residents forecast engineers reservoir spillway shelters boats",
}
CHATS = {
    "cooking": "recipe oven flour butter dough sauce garlic bake onion pan",
    "code": "python function error list loop string test module variable import",
    "travel": "flight hotel train city museum ticket beach luggage visa airport",
    "letters": "letter sentence paragraph tone grammar essay comma draft title style",
    "fitness": "training muscle run knee stretch protein sleep weight pulse squat",
    "memory": "remember forgot memory conversation earlier lost context saved preference told",
}


def subjects(draw: random.Random, lists: dict[str, str], least: int, grown: int) -> list[str]:
    """Return the subjects of a day: ``least`` of all but the last, and ``grown`` of the last."""
    *others, last = lists
    return [draw.choice(others) for _ in range(least)] + [last] * grown


def words(draw: random.Random, subject: str, count: int) -> str:
    """Return different words of a subject, the first ones oftener, and one that says nothing."""
    left, found = subject.split(), []
    steep = len(left) / 5
    for _ in range(count):
        weights = [1 / (steep + place) for place in range(len(left))]
        found.append(left.pop(left.index(*draw.choices(left, weights))))
    return " ".join([*found, draw.choice(FILLERS)])


def names(draw: random.Random, count: int) -> str:
    """Return invented names of people and places, of 400."""
    syllables = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "za"]
    places = ("north", "west", "south", "east")
    return " ".join(
        f"{draw.choice(places)}{draw.choice(syllables)}{draw.choice(syllables)}".title()
        for _ in range(count)
    )


def tickets(draw: random.Random) -> Iterator[dict[str, str | int]]:
    """Yield twelve weeks of tickets."""
    for day in range(84):
        grows = day >= 81
        among = subjects(draw, TICKETS, 9, 12 if grows else day % 2 == 0)
        for place, name in enumerate(among):
            segment = draw.choice(("free", "team", "enterprise"))
            angry = name == "charges" or (name, segment) == ("crash", "enterprise")
            about = TICKETS[name]
            yield {
                "id": f"T{day:02}-{place:02}",
                "created": f"{START + timedelta(days=day, minutes=40 * place):%Y-%m-%d %H:%M}",
                "segment": "team" if name == "charges" and grows else segment,
                "csat": draw.choice((1, 1, 2, 3)) if angry else draw.choice((3, 4, 4, 5)),
                "text": f"{words(draw, about, 7)}. {words(draw, about, 5)}.\n\nBest regards,\n"
                f"{draw.choice(PEOPLE)}",
            }


def news(draw: random.Random) -> Iterator[dict[str, str]]:
    """Yield four weeks of reports."""
    for day in range(28):
        for place, name in enumerate(subjects(draw, NEWS, 20, 14 * (day >= 25))):
            title, who = words(draw, NEWS[name], 3), names(draw, 8)
            body = f"{who}: {words(draw, NEWS[name], 11)}. {words(draw, NEWS[name], 4)}."
            for outlet in OUTLETS if day % 2 + place == 9 else [draw.choice(OUTLETS)]:
                yield {
                    "id": f"{outlet}-{day:02}-{place:02}",
                    "timestamp": f"{START + timedelta(days=day, minutes=30 * place):%FT%TZ}",
                    "outlet": outlet,
                    "title": title,
                    "text": f"{body} {names(draw, 1)}",
                }


def chats(draw: random.Random) -> Iterator[dict[str, object]]:
    """Yield five weeks of conversations."""
    for day in range(35):
        for place, name in enumerate(subjects(draw, CHATS, 20, 14 if day >= 34 else day % 3 == 0)):
            about, person = CHATS[name], draw.choice(PEOPLE)
            number = f"+49 30 {draw.randrange(10**7):07}"
            says = f"I am {person}, {person.lower()}@mail.example, {number}." * (place % 4 == 0)
            turns = [
                ("user", f"{words(draw, about, 6)}? {says}"),
                ("assistant", f"{words(draw, about, 6)}. {words(draw, about, 5)}."),
                ("user", f"{words(draw, about, 5)}."),
            ]
            yield {
                "id": f"c{day:02}-{place:02}",
                "created_at": f"{START + timedelta(days=day, minutes=35 * place):%FT%TZ}",
                "messages": [{"role": role, "content": text} for role, text in turns],
            }


def write_json(path: str, rows: list[dict[str, object]]) -> None:
    """Write rows as JSON lines."""
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    """Write the documents of a page."""
    draw = random.Random(2)
    match sys.argv[1:]:
        case ["tickets"]:
            rows = list(tickets(draw))
            with Path("tickets.csv").open("w", encoding="utf-8", newline="") as file:
                table = csv.DictWriter(file, list(rows[0]))
                table.writeheader()
                table.writerows(rows)
        case ["news"]:
            write_json("news.jsonl", list(news(draw)))
        case ["chats"]:
            found = list(chats(draw))
            today = found[-1]["created_at"][:10]
            write_json("chats.jsonl", [one for one in found if one["created_at"][:10] != today])
            write_json("today.jsonl", [one for one in found if one["created_at"][:10] == today])
        case _:
            sys.exit("Give tickets, news or chats.")


if __name__ == "__main__":
    main()
