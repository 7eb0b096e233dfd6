r"""Remove what a mail repeats: quoted replies and signatures.

Both work on lines, so they come before anything that joins lines. A text of which nothing would be
left stays as it is: a mail that only passes on another one says what that one says.

**Quotes** are, in this order:

* everything from a line such as ``-----Original Message-----`` on, or from a block of lines
  ``From:``, ``Sent:``, ``To:`` and ``Subject:`` within the text (Outlook; English, German, French,
  Spanish, Italian, Portuguese, Dutch);
* a line such as ``On Mon, 1 Jan 2024, Bob wrote:``, which may go over three lines, with the whole
  rest of the text if no quoted line follows it;
* lines that begin with ``>``, also behind ``|`` or initials.

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
from collections.abc import Sequence

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
