r"""Forms of words: which signs other than letters are words, and which join the parts of one.

``--word_forms`` lists them. A text is cut at every other sign.

=========  ===========================================================  =======================
form       words                                                        without it
=========  ===========================================================  =======================
digits     with a digit and a letter: 5G, covid19, word2vec, 0x1f       are left out
codes      joined by a hyphen before a part with a digit, between a     gpt 4, v2 4 1, ora 00942
           digit and one letter, or between three digits and capitals,
           by a dot between digits, and a letter in brackets after
           three digits: GPT-4, 06A-906-461-L, 737-MAX, v2.4.1, 401(k)
signs      C++, C#, .NET, R&D, AT&T, S&P500, U.S.; a hyphen after one   c, c, net, r d, at t, u
           letter: x-ray, e-mail                                        s, x ray
numbers    of digits alone: 1984; 3.14 where codes are joined           are left out
compounds  joined by any hyphen: state-of-the-art                       state of the art
hashtags   #harbour, which is not harbour                               harbour
names      @harbour, which is not harbour                               harbour
emoji      an emoji, whatever its tone of skin                          are left out
marks      with the marks of vowels of Arabic and Hebrew                without the marks
capitals   US, IT and WHO in capitals between words that are not        us, it, who
letters    of letters, which are always words
=========  ===========================================================  =======================

A joining sign is replaced by a capital letter before the text is cut, because a lower-case text
has none. So one way of cutting serves all forms, and :func:`unmarked` restores the word.
:func:`hyphens_before_capitals` finds those of 737-MAX, and :func:`marked_capitals` US, before the
text is in lower case.

>>> joined = joiner(("codes", "signs"))
>>> [unmarked(word) for word in joined("gpt-4, r&d and state-of-the-art").split(" ")]
['gpt-4,', 'r&d', 'and', 'state-of-the-art']
>>> joined("gpt-4")
'gptH4'
>>> marked_capitals("the US told us. WHO CARES").replace(_CAPITALS, "|")
'the |US told us. WHO CARES'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import regex

from beam_topics.model.errors import OptionError

# A hyphen between three digits and capitals, while a text is put in lower case.
_HYPHEN = "\x1f"
_BEFORE_CAPITALS = re.compile(r"-(?<=\d{3}-)(?=[A-Z]{2,3}(?!\w|-[A-Za-z]))")
# What stands before US, while a text is put in lower case, and the words that it stands before.
_CAPITALS = "\x1e"
CAPITALS = {"us": "US", "it": "IT", "who": "WHO"}
# No part of a word, a code, a sign or an address. A pattern begins with its letters, to be fast.
_ACRONYMS = {
    word: re.compile(rf"{word}(?<![\w.&@#]{word})(?<!\w['’]{word})(?![\w&@#]|['’]\w|\.\w|-\w*\d)")
    for word in CAPITALS.values()
}
# Two capitals in the word before, and in the word after.
_BEFORE, _AFTER = re.compile(r"[A-Z]{2}[^A-Za-z]{0,9}\Z"), re.compile(r"[^A-Za-z]{0,9}[A-Z]{2}")
_MARKS = dict(zip("-.&+#@_()", "HDAPSTULR", strict=True))
_MARKED = str.maketrans({**_MARKS, _HYPHEN: "H", _CAPITALS: "C"})
_UNMARKED = str.maketrans({"C": "", **{mark: sign for sign, mark in _MARKS.items()}})
# Marks of vowels and of recitation, and the stroke that makes words longer.
_POINTS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]+"
)
_TONE = r"[\p{Emoji_Modifier}\N{VARIATION SELECTOR-16}]*"
_PICTURE = rf"(?![©®™])\p{{Extended_Pictographic}}{_TONE}"
EMOJI = rf"\p{{Regional_Indicator}}{{2}}|{_PICTURE}(?:\N{{ZERO WIDTH JOINER}}{_PICTURE})*"
_EMOJI, _TONES = regex.compile(EMOJI), regex.compile(_TONE[:-1])


_LETTER, _BOTH = r"[^\W\d_]", r"[^\W_]"
# What joins: a sign, and where it does.
_RULES = {
    "codes": (
        ("-", rf"(?={_LETTER}*\d)(?<={_BOTH}-)"),
        ("-", rf"(?={_LETTER}(?!\w))(?<=\d-)"),
        (".", r"(?=\d)(?<=\d\.)"),
        ("(", rf"(?<=\d{{3}}\(){_LETTER}\)(?!\w)"),
        (_HYPHEN, rf"(?<=\d{{3}}{_HYPHEN})(?={_LETTER})"),
    ),
    "signs": (
        ("-", rf"(?<=\b{_LETTER}-)(?<!-{_LETTER}-)(?={_LETTER}{{2}})"),
        (".", rf"(?={_LETTER}(?!\w))(?<=\b{_LETTER}\.)"),
        (".", r"(?=net(?!\w))(?:(?<![\w.]\.)|(?<=\basp\.))"),
        (
            "&",
            rf"(?:(?<=\b{_LETTER}&)|(?<=\b{_LETTER}{{2}}&))(?={_LETTER}(?:{_LETTER}(?!;))?\d*(?!\w))",
        ),
        ("+", rf"(?<={_BOTH}\+)\+(?!{_LETTER}|\+)"),
        ("#", rf"(?<=\b{_LETTER}\#)(?![\w#])"),
    ),
    "capitals": ((_CAPITALS, ""),),
    "compounds": (("-", rf"(?<={_BOTH}-)(?={_BOTH})"),),
    "hashtags": (("#", rf"(?<![\w&]\#)(?=\w*{_LETTER})\w+"),),
    "names": (("@", rf"(?<![\w&]@)(?=\w*{_LETTER})\w+"),),
}


_LETTERS = "letters"
FORMS = tuple(sorted((*_RULES, "digits", "numbers", "emoji", "marks", _LETTERS)))


def resolved(forms: Sequence[str]) -> tuple[str, ...]:
    """Return forms in their order, each once; ``letters`` where there is no other.

    Raises:
        OptionError: There is one that does not exist.
    """
    if unknown := [form for form in forms if form not in FORMS]:
        allowed = "names with commas, of " + ", ".join(FORMS)
        raise OptionError("--word_forms", unknown[0], allowed, "Correct the spelling.")
    return tuple(sorted({*forms} - {_LETTERS})) or (_LETTERS,)


def hyphens_before_capitals(text: str) -> str:
    """Return a text that tells :func:`joiner` the hyphens of words such as 737-MAX."""
    return _BEFORE_CAPITALS.sub(_HYPHEN, text) if "-" in text else text


def marked_capitals(text: str) -> str:
    """Return a text that tells :func:`joiner` which of US, IT and WHO are not function words.

    In a heading or a phrase in capitals, another word in capitals is next to them.
    """

    def marked(found: re.Match[str]) -> str:
        before = _BEFORE.search(text, max(0, found.start() - 11), found.start())
        return found[0] if before or _AFTER.match(text, found.end()) else _CAPITALS + found[0]

    for word, pattern in _ACRONYMS.items():
        if word in text:
            text = pattern.sub(marked, text)
    return text


def joining(forms: Sequence[str]) -> set[str]:
    """Return the forms by which signs join."""
    return _RULES.keys() & set(forms)


def joiner(forms: Sequence[str]) -> Callable[[str], str]:
    """Return the function that replaces joining signs by capital letters, in lower-case texts."""
    places: dict[str, list[str]] = {}
    for sign, place in (rule for form in sorted(forms) for rule in _RULES.get(form, ())):
        places.setdefault(sign, []).append(place)
    patterns = {sign: rf"\{sign}(?:{'|'.join(listed)})" for sign, listed in places.items()}
    # The module re is faster, but counts no mark of a letter as part of a word. A pattern begins
    # with its sign, so that others are passed fast.
    ascii, other = (
        [(sign, module.compile(pattern)) for sign, pattern in patterns.items()]
        for module in (re, regex)
    )

    def joined(text: str) -> str:
        for sign, pattern in ascii if text.isascii() else other:
            if sign in text:
                text = pattern.sub(_marked, text)
        return text

    return joined


def _marked(found: re.Match[str]) -> str:
    return found[0].translate(_MARKED)


def unmarked(word: str) -> str:
    """Return a word as it was before :func:`joiner`; an emoji loses its tone of skin."""
    if not word.islower():
        if capitals := word[:1] == "C" and CAPITALS.get(word[1:]):
            return capitals
        word = word.translate(_UNMARKED)
    return word if word.isascii() else _TONES.sub("", word)


def is_emoji(word: str) -> bool:
    """Return whether a word is an emoji."""
    return not word.isascii() and _EMOJI.fullmatch(word) is not None


def without_points(text: str) -> str:
    """Return a text without Arabic and Hebrew marks of vowels, and without tatweel."""
    return _POINTS.sub("", text)
