"""Subjects with vocabularies of their own, in several languages, and texts made of them.

A text is about one subject: its words are that subject's, with words between them that say nothing.
So the true subject of a token is known from the token alone, whatever a tokeniser makes of the text
around it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

# The words of each subject, with blanks between them.
Subjects = Mapping[str, str]

ENGLISH: Subjects = {
    "space": (
        "orbit rocket planet lunar telescope comet galaxy astronauts satellite spacecraft gravity"
        " crater probe launch mission sensor solar payload station engineers"
    ),
    "kitchen": (
        "butter garlic recipe oven roast dessert chocolate cheese bread salad sauce wine dinner"
        " menu chef restaurant spices vegetables flavor kitchen"
    ),
    "law": (
        "judge jury court verdict lawyer prison trial witness appeal evidence lawsuit attorney"
        " defendant prosecutor custody sentence bail ruling testimony justice crime law guilt"
    ),
    "sport": (
        "striker goal penalty referee league season stadium keeper midfield kickoff tournament"
        " coach champions supporters midfielder transfer victory defender match cup player team"
    ),
    "finance": (
        "shares profit bonds dividend earnings inflation investors stocks merger currency revenue"
        " traders bank debt economy quarter rates market analysts forecast"
    ),
    "medicine": (
        "hospital doctors nurses vaccine virus surgery patients clinic infection therapy dose"
        " symptoms disease outbreak screening immune treatment medicine"
    ),
    "sea": (
        "ship harbour captain anchor mast sail wave tide deck crew port sea"
    ),
}  # fmt: skip

_FILLERS = "the and of to with for from that this was will after"

GERMAN: Subjects = {
    "law": "Gericht Richter Zeuge Urteil Anwalt Gefängnis Berufung Prozess",
    "sport": "Trainer Elfmeter Mannschaft Stadion Liga Schiedsrichter Stürmer Verein",
    "finance": "Aktien Börse Gewinn Schulden Zinsen Umsatz Anleger Währung",
}
SPANISH: Subjects = {
    "law": "juez tribunal abogado sentencia cárcel testigo delito fiscal",
    "sport": "portero árbitro delantero estadio liga partido entrenador gol",
    "finance": "acciones bolsa ganancia deuda inversores moneda mercado banco",
}
CHINESE: Subjects = {
    "law": "法院 法官 律师 监狱 证人 判决",
    "sport": "足球 球员 教练 比赛 冠军 球队",
    "finance": "股票 银行 利润 投资 市场 经济",
}
THAI: Subjects = {
    "law": "ศาล ทนายความ ผู้พิพากษา เรือนจำ พยาน",
    "sport": "ฟุตบอล นักเตะ ประตู การแข่งขัน ทีม",
    "sea": "เรือ ทะเล กัปตัน ท่าเรือ คลื่น",
}
JAPANESE: Subjects = {
    "law": "裁判所 弁護士 判決 刑務所 証人",
    "sport": "サッカー 選手 監督 試合 優勝",
    "finance": "株式 銀行 利益 投資 市場",
}
KOREAN: Subjects = {
    "law": "법원 변호사 판사 교도소 증인 재판",
    "sport": "축구 선수 감독 경기 우승 골키퍼",
    "sea": "항구 선박 선장 바다 등대 어부",
}
HINDI: Subjects = {
    "law": "न्यायालय वकील न्यायाधीश जेल गवाह फैसला",
    "sport": "क्रिकेट खिलाड़ी मैदान गेंदबाज बल्लेबाज कप्तान",
    "sea": "जहाज समुद्र बंदरगाह लहर नाविक किनारा",
}
ARABIC: Subjects = {
    "law": "محكمة قاضي محامي سجن شاهد جريمة",
    "sport": "مباراة لاعب مدرب ملعب هدف فريق",
    "sea": "سفينة بحر ميناء قبطان موجة شاطئ",
}
CODES: Subjects = {
    "engine": "P0420 P0171 catalyst sensor misfire 5W-30 OBD2 injector",
    "windows": "KB5034441 0x80070005 v2.4.1 firmware driver GPT-4 Win11 update",
    "virus": "covid19 IL-6 5G CD4 mRNA vaccine antibody H1N1",
}


def some(subjects: Subjects, *names: str) -> Subjects:
    """Return the subjects of these names."""
    return {name: subjects[name] for name in names}


class Texts:
    """Texts of subjects, each a function of the seed and its number.

    Args:
        subjects: The subjects; text n is about subject n modulo their number.
        words: The words of a text that are its subject's.
        glue: What joins the words; the empty string for languages without spaces.
        fillers: Words that say nothing, put between the others.
    """

    def __init__(
        self,
        subjects: Subjects,
        words: int = 14,
        glue: str = " ",
        fillers: str = _FILLERS,
    ) -> None:
        self._subjects = {name: own.split() for name, own in subjects.items()}
        self._words, self._glue, self._fillers = words, glue, fillers.split()
        self._names = list(subjects)

    def subject(self, number: int) -> str:
        """Return the subject of a text."""
        return self._names[number % len(self._names)]

    def text(self, number: int, words: int | None = None) -> str:
        """Return a text."""
        draw = random.Random(f"{number} {words}")
        own = draw.choices(self._subjects[self.subject(number)], k=words or self._words)
        others = draw.choices(self._fillers, k=len(own) // 3) if self._fillers else []
        mixed = own + others
        draw.shuffle(mixed)
        return self._glue.join(mixed)

    def texts(self, count: int) -> list[str]:
        """Return the first texts."""
        return [self.text(number) for number in range(count)]


def of_words(subjects: Subjects) -> dict[str, str]:
    """Return the subject of each word, in lower case; words of several subjects are left out."""
    found: dict[str, str] = {}
    twice = set()
    for name, words in subjects.items():
        for word in set(words.lower().split()):
            if word in found:
                twice.add(word)
            found[word] = name
    return {word: name for word, name in found.items() if word not in twice}
