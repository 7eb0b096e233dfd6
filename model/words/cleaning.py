r"""Remove what is not text from a document: addresses, markup, headers, quotes, signatures.

:func:`without_addresses` removes addresses of the web and of mail from each text that is cut into
words. Each other way has a name, and ``--strip`` lists them. They are applied in this order:

* ``mail`` removes the header of a mail or a news article (RFC 5322) and keeps the subject. All
  lines before the first blank one must be header lines, and one must name a field that mails have.
  Any other text is unchanged.
* ``html`` keeps the text of a page, without comments, scripts and styles. Block elements end a
  line. What is not a tag stays, as in ``1 < 2`` and ``<bob@x.org>``, except for entities.
* ``quotes`` and ``signatures`` remove what a mail repeats, see below.

>>> clean("From: a@b.c\nSubject: Ships\n\nA <b>har</b>bour<p>and a sail", ("mail", "html"))
'Ships A harbour and a sail'

:func:`find_markup` says which of them a sample of texts has, and :func:`stripping` which of these
go without being asked for: ``html`` alone, because the others remove what people wrote.

Quotes and signatures are found by lines, so they are removed before anything joins lines. A text
of which nothing would be left is unchanged: a mail that only forwards another one says what that
one says.

**Quotes** are, in this order:

* everything from a line such as ``-----Original Message-----`` on, or from a block of lines
  ``From:``, ``Sent:``, ``To:`` and ``Subject:`` within the text (Outlook; English, German, French,
  Spanish, Italian, Portuguese, Dutch);
* a line such as ``On Mon, 1 Jan 2024, Bob wrote:``, which may span three lines, with the whole
  rest of the text if no quoted line follows it;
* lines that begin with ``>``, also after ``|`` or initials.

**Signatures** are:

* the last lines from a line ``--`` on, or from a line of ten or more ``_``, ``-``, ``=`` or ``*``
  on, if at most twelve follow it;
* the last lines from a closing on a line of its own on ("Best regards,", "Sent from my phone"), if
  it is short, and so are the lines that follow it, at most eight.

>>> without_quotes("On 1 May 2024, Bob wrote:\n> Tea?\n\nYes, please.").strip()
'Yes, please.'
>>> without_signature("The harbour is open.\n-- \nBob\n+49 1").strip()
'The harbour is open.'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import unescape

from beam_topics.model.errors import OptionError
from beam_topics.model.settings.options import names_in

_WORD = re.compile(r"\w+")
_VERBS = "wrote|writes|schrieb|écrit|escribió|scritto|escreveu|schreef"
_ARTICLE = r"On|At|In article|Am|Le|El|Il|Em|Op"
# At most three lines, each short: no text is searched twice.
_ATTRIBUTION = re.compile(
    rf"^[ \t]*(?:{_ARTICLE})\b(?:[^\n]{{0,200}}\n){{0,2}}?"
    rf"[^\n]{{0,200}}?\b(?:{_VERBS})\b[^\n]{{0,80}}:[ \t\r]*$",
    re.MULTILINE,
)
# Who says something on the line before a quoted one.
_SPEAKER = re.compile(
    rf"^[^\n>]{{1,160}}\b(?:{_VERBS}|said|says)\b[^\n]{{0,40}}:[ \t\r]*$"
    r"(?=\n[ \t\r]*\n?[ \t]*\|?[ \t]?>)",
    re.MULTILINE,
)
_QUOTED = re.compile(r"^[ \t]*(?:\|[ \t]?|[A-Za-z]{1,3})?>[^\n]*$", re.MULTILINE)
_ORIGINAL = re.compile(
    r"^[ \t]*-{3,}[ \t]*(?:Original Message|Original Appointment|Ursprüngliche Nachricht"
    r"|Message d'origine|Message original|Mensaje original|Messaggio originale"
    r"|Mensagem original|Oorspronkelijk bericht)[ \t]*-{3,}[ \t\r]*$"
    r"|^[ \t*]*(?:From|Von|De|Da|Van)[ \xa0*]?:[^\n]*\n"
    r"[ \t*]*(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado|Inviato|Verzonden)[ \xa0\w*]{0,5}:[^\n]*\n"
    r"(?:[ \t*]*(?:To|Cc|An|À|Para|A|Aan)[ \xa0*]?:[^\n]*\n){1,2}"
    r"[ \t*]*(?:Subject|Betreff|Objet|Asunto|Oggetto|Assunto|Onderwerp)[ \xa0*]?:",
    re.MULTILINE | re.IGNORECASE,
)
_HAS_VERBS = tuple(_VERBS.split("|"))
# A name or a time: "On the other hand he wrote:" has neither.
_EXACT = re.compile(r"[\d@<]")

_RULE, _LEAST_RULE = "_=*-", 10
_CLOSINGS = frozenset(
    "regards|best regards|kind regards|warm regards|kindest regards|with best regards|best wishes"  # noqa: SIM905
    "|with kind regards|many thanks|best|cheers|thanks|thank you|sincerely|yours sincerely"
    "|yours truly|yours faithfully|mit freundlichen grüßen|mit freundlichem gruß|freundliche grüße"
    "|viele grüße|beste grüße|liebe grüße|cordialement|bien cordialement|bien à vous|amicalement"
    "|saludos|saludos cordiales|un saludo|atentamente|cordiali saluti|distinti saluti"
    "|atenciosamente|met vriendelijke groet|met vriendelijke groeten".split("|")
)
_SENT_FROM = ("sent from my ", "gesendet von meinem ", "envoyé de mon ", "enviado desde mi ")
_MOST_LINES, _CLOSING_LINES, _CLOSING_LENGTH = 12, 8, 60


def without_quotes(text: str) -> str:
    """Return a text without quoted replies."""
    if ":" not in text and ">" not in text and "-----" not in text:
        return text
    original = _ORIGINAL.search(text)
    left = text if original is None else text[: original.start()]
    left = _without_attributions(left)
    if ">" in left:
        left = _QUOTED.sub("", _SPEAKER.sub("", left))
    return left if left.strip() else text


def _without_attributions(text: str) -> str:
    if not any(verb in text for verb in _HAS_VERBS):
        return text
    kept, at = [], 0
    for found in _ATTRIBUTION.finditer(text):
        if not _EXACT.search(found[0]):
            continue
        kept.append(text[at : found.start()])
        at = found.end()
        if not _QUOTED.search(text, at):
            return "".join(kept)
    return "".join([*kept, text[at:]])


def without_signature(text: str) -> str:
    """Return a text without the signature at its end."""
    # The first item is all that comes before the last lines.
    lines = text.rstrip().rsplit("\n", _MOST_LINES + 1)
    rules = (number for number in range(1, len(lines)) if _is_rule(lines[number].strip()))
    cut = next(rules, None) or _closing(lines)
    left = "\n".join(lines[:cut]) if cut else ""
    return left if left.strip() else text


def _is_rule(line: str) -> bool:
    return line == "--" or (len(line) >= _LEAST_RULE and not line.strip(_RULE))


def _closing(lines: Sequence[str]) -> int | None:
    """Return the line with which the closing of a mail begins."""
    found = None
    for number in range(len(lines) - 1, max(0, len(lines) - 2 - _CLOSING_LINES), -1):
        if len(lines[number]) > _CLOSING_LENGTH:
            break
        bare = lines[number].strip(" \t\r,.!").lower()
        if bare in _CLOSINGS or bare.startswith(_SENT_FROM):
            found = number
    return found


# Elements within a line; a word may go across their borders (HTML standard, phrasing content).
_INLINE = frozenset(
    "a abbr b bdi bdo cite code data dfn em font i ins del kbd mark q s samp small span strike"  # noqa: SIM905
    " strong sub sup time tt u var wbr".split()
)
# A comment, an element that holds no text, a tag, or a declaration. A quoted value may hold ">".
_MARKUP = re.compile(
    r"<(?:!--.*?(?:-->|\Z)"
    r"|(?:script|style|template|noscript)(?=[\s/>]).*?"
    r"(?:</(?:script|style|template|noscript)\s*>|\Z)"
    r"|/?([a-z][a-z0-9]*(?:[:-][a-z0-9]+)*)(?=[\s/>])(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+>"
    r"|[!?][a-z][^<>]*>)",
    re.DOTALL | re.IGNORECASE,
)
_TAG = re.compile(
    r"</?(?:a|abbr|article|b|blockquote|body|br|center|code|dd|div|dl|dt|em|font|footer|h[1-6]"
    r"|head|header|hr|html|i|img|li|link|meta|nav|ol|p|pre|section|small|span|strong|style|sub"
    r"|sup|table|tbody|td|th|thead|title|tr|u|ul)(?:\s[^<>]{0,400})?/?>"
    r"|&(?:#\d{2,5}|#x[0-9a-f]{2,5}|nbsp|amp|lt|gt|quot|apos|[mn]dash|[lr][sd]quo|hellip);",
    re.IGNORECASE,
)
_HEADER = re.compile(r"([!-9;-~]{1,76}):(?=\s|\Z)")
_BLANK = re.compile(r"\r?\n[ \t]*\r?\n")
# One of them is in each mail or article. Other texts may begin with "Summary: ...".
_FIELDS = {"from", "to", "subject", "date", "message-id", "newsgroups", "received", "return-path"}
# Longer headers are text.
_LONGEST_HEADER = 65_536
# Endings of hosts. Those of countries count before a path: "the end.So" is not a host.
_ENDINGS = r"(?:co|com|org|net|ac|gov)\.[a-z]{2}|com|org|(?-i:net)|edu|gov"
_OF_COUNTRIES = (
    "at|au|be|br|ca|ch|co|de|es|eu|fm|fr|gd|gl|im|in|io|it|jp|ly|me|nl|ru|se|to|tv|uk|us"
)
# A sign of an address, and what stands before it from the last character on.
_SIGN = re.compile(r"[@.:](?=\w|//)")
_BEFORE = {":": re.compile(r"[A-Za-z]+"), ".": re.compile(r"[\w.+-]*\w")}
_MOST_BEFORE = 64
_ADDRESS = re.compile(
    r"(?<!@)(?i:(?:https?|ftp)://[^\s<>\")\]]+|www\.[^\s<>\")\]]+"
    r"|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"
    r"|(?!(?:ado|asp|vb)\.net\b)(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}"
    rf"(?:(?:{_ENDINGS})(?![\w-])(?:[:/][^\s<>\")\]]*)?|(?:{_OF_COUNTRIES})/[^\s<>\")\]]+))"
)
# A text without a short word after a point and without www. has no host.
_HOST = re.compile(r"\.(?:(?<=ww\.)|(?<=WW\.)|[A-Za-z]{2,3}(?![A-Za-z]))")
# Entities may be written twice, as in &amp;gt;.
_ENTITY = re.compile(
    r"&(?:amp;)*((?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});)", re.IGNORECASE
)
_SPACES = re.compile(r"\s+")
# A word whose parts are on two lines.
_DIVIDED = re.compile(r"(?<![\w-])([^\W\d_]+)-\r?\n[ \t]*([^\W\d_]+)")


def _without_header(text: str) -> str:
    if not (text.startswith("From ") or _HEADER.match(text)):
        return text
    blank = _BLANK.search(text, 0, _LONGEST_HEADER)
    if blank is None or not _is_header(text[: blank.start()]):
        return text
    # Imported here, because only --strip=mail needs it.
    from email.parser import HeaderParser

    subject = HeaderParser().parsestr(text[: blank.start()]).get("Subject", "")
    return f"{subject}\n\n{text[blank.end() :]}"


def _is_header(text: str) -> bool:
    names = set[str]()
    for number, line in enumerate(text.splitlines()):
        field = _HEADER.match(line)
        if field is not None:
            names.add(field[1].lower())
        elif not (names and line[:1] in (" ", "\t")) and not (
            number == 0 and line.startswith("From ")
        ):
            return False
    return not names.isdisjoint(_FIELDS)


def without_html(text: str) -> str:
    """Return the text of a page, with its lines."""
    if "<" in text:
        text = _MARKUP.sub(_gap, text)
    return unescape(text) if "&" in text else text


def _gap(found: re.Match[str]) -> str:
    name = found[1]
    return "" if found[0].startswith("<!--") or (name and name.lower() in _INLINE) else "\n"


def without_addresses(text: str) -> str:
    """Return a text without addresses, and with characters in place of entities of HTML.

    >>> without_addresses("R&amp;D of reddit.com, see https://x.org/a?b=c")
    'R&D of  , see  '
    """
    if "&" in text:
        text = _ENTITY.sub(_character, text)
    if not ("@" in text or "://" in text or _HOST.search(text)):
        return text
    kept, at = [], 0
    for sign in _SIGN.finditer(text):
        place = sign.start()
        # Most characters are in no address, so what stands around signs alone is looked at.
        back = text[max(at, place - _MOST_BEFORE) : place][::-1]
        before = _BEFORE[":" if sign[0] == ":" else "."].match(back)
        if before and (found := _ADDRESS.match(text, place - before.end())):
            kept.append(text[at : found.start()])
            at = found.end()
    return " ".join([*kept, text[at:]])


def without_line_hyphens(text: str) -> str:
    r"""Return a text whose words are whole where a hyphen at the end of a line divides them.

    Texts of PDF files have such hyphens. A hyphen stays where the text has the two parts with a
    hyphen within a line, too, and before a capital.

    >>> without_line_hyphens("an environ-\nment of well-known, well-\nknown words")
    'an environment of well-known, well-known words'
    """
    if "-\n" not in text and "-\r" not in text:
        return text
    lower = text.lower()

    def whole(found: re.Match[str]) -> str:
        first, second = found.groups()
        compound = f"{first}-{second}"
        is_compound = not second[0].islower() or compound.lower() in lower
        return compound if is_compound else first + second

    return _DIVIDED.sub(whole, text)


def _character(found: re.Match[str]) -> str:
    return unescape(f"&{found[1]}")


# In the order in which they are applied.
WAYS: dict[str, Callable[[str], str]] = {
    "mail": _without_header,
    "html": without_html,
    "quotes": without_quotes,
    "signatures": without_signature,
}
# A way is needed if this share of the texts has what it removes, and html if it has it twice.
_SHARE = 0.2
_MARKS = 2


def ordered(ways: Iterable[str]) -> tuple[str, ...]:
    """Return ways in the order in which they are applied; ``none`` alone is none.

    Raises:
        OptionError: One does not exist.
    """
    chosen = tuple(ways)
    if chosen == ("none",):
        return ()
    for way in chosen:
        if way not in WAYS:
            allowed = "none, or names with commas, of " + ", ".join(WAYS)
            raise OptionError("--strip", way, allowed, "Correct the spelling.")
    return tuple(way for way in WAYS if way in chosen)


def find_markup(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the ways that texts need.

    A way is needed if it changes a fifth of the texts or more. ``html`` is needed if a fifth of
    them have two or more tags of HTML or entities: a few signs ``<`` and ``>`` are not. What one
    needed way removes is no longer there for the ways after it.
    """
    found = []
    for way, function in WAYS.items():
        cleaned = [function(text) for text in texts]
        if way == "html":
            marked = sum(_is_marked(text) for text in texts)
        else:
            marked = sum(before != after for before, after in zip(texts, cleaned, strict=True))
        if texts and marked >= _SHARE * len(texts):
            found.append(way)
            texts = cleaned
    return tuple(found)


# What goes without being asked for, and what each way removes.
_BY_ITSELF = ("html",)
_REMOVED = {
    "mail": "headers of mail",
    "html": "tags of HTML",
    "quotes": "quoted replies",
    "signatures": "signatures",
}


def stripping(
    texts: Sequence[str], markup: Sequence[str], asked: str | Iterable[str] | None = None
) -> tuple[str, str]:
    r"""Return the value of ``--strip`` for texts, and one line of what it and other ways remove.

    >>> stripping(["<p>ship</p>", "> a ship\nYes"], ("html", "quotes"))[0]
    'html'

    Args:
        texts: A sample of the texts.
        markup: What they have, of :func:`find_markup`.
        asked: The ways that the user gives; None for a choice.
    """
    given = names_in(asked) if isinstance(asked, str) else asked
    chosen = set(_BY_ITSELF) & set(markup) if given is None else set(given)
    ways = [way for way in WAYS if way in chosen]
    said = f"{_removing(texts, ways, 'removes')}. --strip=none keeps them." if ways else ""
    rest = [way for way in markup if way not in ways]
    if given is None and rest:
        other = _removing(texts, [*ways, *rest], "would remove")
        said = f"{said} {other}; without it they are words.".lstrip()
    return ",".join(ways), said


def _removing(texts: Sequence[str], ways: Sequence[str], verb: str) -> str:
    ways = ordered(ways)
    before, after = (
        sum(len(_WORD.findall(text)) for text in some)
        for some in (texts, (clean(text, ways) for text in texts))
    )
    share, named = 100 * (1 - after / max(before, 1)), ", ".join(_REMOVED[way] for way in ways)
    return f"--strip={','.join(ways)} {verb} {share:.0f} % of the words: {named}"


def _is_marked(text: str) -> bool:
    tags = _TAG.finditer(text)
    return sum(1 for _ in zip(range(_MARKS), tags, strict=False)) == _MARKS


def clean(text: str, ways: Sequence[str]) -> str:
    """Return a text without what some ways remove, with single spaces.

    Args:
        text: The text.
        ways: Names of :data:`WAYS`, in the order of their application.
    """
    for way in ways:
        text = WAYS[way](text)
    return _SPACES.sub(" ", text).strip() if ways else text
