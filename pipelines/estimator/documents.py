"""Documents of the estimator: texts or lists of tokens, with or without times, ids and labels.

Texts follow the rules of the command line (:mod:`beam_topics.model.reading.parsing`): a document
that it would refuse becomes a dead letter.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.errors import OptionError, RefusedInputError
from beam_topics.model.inference.labelling import content_id
from beam_topics.model.learners import LEARNER
from beam_topics.model.learners.base import AUTO
from beam_topics.model.learners.engine.settings import ArchiveSchedule, NoBirths, StreamSchedule
from beam_topics.model.profile.fields import fields_of, times_of
from beam_topics.model.profile.profile import chooses_words, learning_options, span_of
from beam_topics.model.reading.parsing import MISSING_TEXT, dead_letter, parse_record
from beam_topics.model.reading.refused import Example, refused
from beam_topics.model.reading.settings import ParseSettings
from beam_topics.model.settings.compositions import placements
from beam_topics.model.times import MICROSECONDS_PER_SECOND, to_iso
from beam_topics.model.words.cleaning import find_markup, stripping
from beam_topics.model.words.languages import language_of
from beam_topics.model.words.tokeniser import MOST_TEXTS, Losses, Tokeniser, wordless

# The documents whose times and texts are looked at.
_LOOKED_AT = 1000
# What stands for the text of tokens while the rules for records are applied.
_TOKENS = "tokens"
SCHEDULE, BIRTHS = "schedule", "births"
# The documents of a day that are a second apart, and the places that a warning names.
_A_DAY, _NAMED = 86_400, 5


def listed(documents: Any) -> list[Any]:
    """Return the documents as a list."""
    if isinstance(documents, (str, bytes, Mapping)):
        given = type(documents).__name__ if isinstance(documents, Mapping) else documents
        remedy = (
            "Give its values." if isinstance(documents, Mapping) else "Give one document as [text]."
        )
        raise OptionError("X", given, _DOCUMENTS, remedy)
    return _values("X", documents)


_DOCUMENTS = "an iterable of texts, or of lists of tokens"


def _values(name: str, given: Any) -> list[Any]:
    """Return the values of an iterable; a table has to have one column.

    Iterating a data frame would give the names of its columns.

    Raises:
        OptionError: it is a table of several columns, or no iterable.
    """
    if hasattr(given, "__dataframe__"):
        names = list(getattr(given, "column_names", given.columns))
        if len(names) != 1:
            listed = ", ".join(map(repr, names)) or "none"
            remedy = f"Give one of them, as in table[{names[-1]!r}]." if names else "Give texts."
            raise OptionError(name, f"a table with the columns {listed}", "one column", remedy)
        given = given[names[0]]
    elif getattr(given, "ndim", 1) == 2 and given.shape[1] == 1:
        # What scikit-learn makes of a table of one column.
        given = given[:, 0]
    if not isinstance(given, Iterable):
        raise OptionError(name, type(given).__name__, _DOCUMENTS, "Give a list.")
    return list(given.to_pylist() if hasattr(given, "to_pylist") else given)


def columns(
    count: int, start: int, first: int, given: dict[str, Iterable[Any] | None]
) -> dict[str, Sequence[Any]]:
    """Return ids, times and labels of all documents.

    Args:
        count: the number of documents.
        start: the time of the first document where none are given, in microseconds. Each next one
            is a second later.
        first: the number that is the id of the first document where no ids are given.
        given: ``ids``, ``times`` and ``labels``, or None for each.
    """
    step = MICROSECONDS_PER_SECOND
    found: dict[str, Sequence[Any]] = {
        "ids": range(first, first + count),
        "times": [to_iso(start + step * number) for number in range(count)],
        "labels": [None] * count,
    }
    for name, values in given.items():
        if values is not None:
            found[name] = _values(name, values)
        if len(found[name]) != count:
            allowed = f"as many values as there are documents ({count})"
            raise OptionError(name, f"{len(found[name])} values", allowed, "Correct one of them.")
    return found


def found_in(
    documents: Sequence[Any], times: Iterable[Any] | None, given: Mapping[str, Any]
) -> tuple[dict[str, str], str]:
    """Return the parameters that the documents call for, and the form of their times.

    Args:
        documents: the documents.
        times: their times, if they are given.
        given: the parameters that are given, by name. What is removed from texts without being
            asked for is a warning; with ``verbose``, so is what could be removed.

    Raises:
        OptionError: the times can be read in several ways, or a package is missing.
    """
    step = -(-len(documents) // _LOOKED_AT) or 1
    texts = [document for document in documents[::step] if isinstance(document, str)]
    form, span = "iso", None
    language = language_of(texts) if chooses_words(given) else None
    if times is not None:
        plain = [_plain(time) for time in _values("times", times)]
        field = fields_of([{"timestamp": time} for time in plain[::step]], {})[0]
        forms = ("iso",) if field.form is None else field.form.forms
        if len(forms) > 1:
            allowed = f"times of one form; these have one of {', '.join(forms)}"
            raise OptionError("times", field.example, allowed, "Give datetimes.")
        form = forms[0]
        records = [{"timestamp": time} for time in plain]
        span = span_of([time for time in times_of(records, field) if time is not None])
    strip, said = stripping(texts, find_markup(texts), given.get("strip"))
    if said and (given.get("verbose") or (strip and "strip" not in given)):
        warnings.warn(said, stacklevel=4)
    found = learning_options(strip, language, span, given)
    if language is not None and language.missing and language.options.items() & found.items():
        allowed = f"a segmenter that is installed; the texts are of the language {language.code}"
        raise OptionError("segmenter", found["segmenter"], allowed, language.missing)
    return found, form


def bounded(count: int, given: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters for documents without times: an archive, and one version of it.

    Args:
        count: the number of documents.
        given: the parameters that are given, by name. One that a schedule of streams alone has, or
            that chooses a learner or births, leaves the default.
    """
    stream = (SCHEDULE, StreamSchedule.kind)
    apart = {place.option.name for place in placements(LEARNER) if stream in place.path}
    if given.keys() & {LEARNER.name, SCHEDULE, BIRTHS, *apart} or given.get("topics") == AUTO:
        return {}
    days = -(-count // _A_DAY)
    lengths = {"publish_every": f"{days}d"} if days > 1 and "publish_every" not in given else {}
    # Nothing is born of an archive, so a mixture has T shares.
    return {SCHEDULE: ArchiveSchedule.kind, BIRTHS: NoBirths.kind, **lengths}


def to_learn(
    documents: Sequence[Any],
    columns: dict[str, Sequence[Any]],
    tokeniser: Tokeniser,
    how: ParseSettings,
) -> tuple[Block, list[DeadLetter]]:
    """Return the documents as tokens, and dead letters for those that cannot be used.

    ``how`` has the form of the times and their zone.

    Raises:
        RefusedInputError: less than half of the documents can be used, or none has a word.
        OptionError: a document is neither a text nor a list of tokens.
    """
    found: list[Document] = []
    given: list[Any] = []
    letters: list[DeadLetter] = []
    for number, document in enumerate(documents):
        fields = {name: columns[f"{name}s"][number] for name in ("id", "time", "label")}
        item = _parsed(number, document, fields, how)
        if isinstance(item, DeadLetter):
            letters.append(item)
        else:
            found.append(item)
            given.append(document if isinstance(document, str) else _tokens(document, number))
    _check_refused(len(documents), letters)
    block = _block(found, given, tokeniser)
    wordless_rows = np.flatnonzero(block.lengths == 0).tolist()
    without = [given[row] if isinstance(given[row], str) else "" for row in wordless_rows]
    _check_words(len(block), without, tokeniser)
    return block, letters


def to_label(documents: Sequence[Any], ids: Iterable[Any] | None, tokeniser: Tokeniser) -> Block:
    """Return the documents as tokens, every one of them.

    Without ids, the id of a document is a digest of it, so its mixture does not depend on the
    other documents. A document that is None or NaN has no words.
    """
    if without := [place for place, document in enumerate(documents) if _is_missing(document)]:
        places = ", ".join(f"X[{place}]" for place in without[:_NAMED])
        more = f" and {len(without) - _NAMED:,} more" if len(without) > _NAMED else ""
        warnings.warn(f"{places}{more}: None in place of a text has no topic.", stacklevel=4)
        documents = ["" if _is_missing(document) else document for document in documents]
    given = [
        document if isinstance(document, str) else _tokens(document, place)
        for place, document in enumerate(documents)
    ]
    digests = (content_id([one] if isinstance(one, str) else one) for one in given)
    names = list(digests if ids is None else ids)
    if len(names) != len(documents):
        allowed = f"as many values as there are documents ({len(documents)})"
        raise OptionError("ids", f"{len(names)} values", allowed, "Correct one of them.")
    texts = [document if isinstance(document, str) else "" for document in documents]
    read = [Document(str(name), 0, text) for name, text in zip(names, texts, strict=True)]
    return _block(read, given, tokeniser)


def _parsed(
    number: int, document: Any, fields: dict[str, Any], how: ParseSettings
) -> Document | DeadLetter:
    record = {
        "id": fields["id"],
        "timestamp": _plain(fields["time"]),
        "label": _plain(fields["label"]),
        "text": document if isinstance(document, str) else _TOKENS,
    }
    if _is_missing(document):
        detail = f"{document} is no text; give '' for a document without one"
        return dead_letter(f"document {number}", MISSING_TEXT, detail, {**record, "text": None})
    found = parse_record(record, f"document {number}", how)
    return found if isinstance(found, DeadLetter) else replace(found, arrived=number)


def _is_missing(document: Any) -> bool:
    """Return whether a document is None, NaN, or the NA of pandas."""
    is_nan = isinstance(document, float) and document != document
    return document is None or is_nan or type(document).__name__ == "NAType"


def _plain(value: Any) -> Any:
    """Return a value of numpy or pandas as one of Python."""
    if hasattr(value, "to_pydatetime"):
        return value.to_pydatetime()
    return value.item() if hasattr(value, "item") else value


def _block(
    documents: Sequence[Document], given: Sequence[str | list[str]], tokeniser: Tokeniser
) -> Block:
    """Return documents as a block, given the text or the tokens of each."""
    if not documents:
        return Block.empty()
    if all(isinstance(one, str) for one in given):
        return tokeniser.block(documents)
    words = [tokeniser.words(one) if isinstance(one, str) else one for one in given]
    return Block.of_words(documents, words)


def _tokens(given: Any, place: int) -> list[str]:
    if isinstance(given, Iterable) and not isinstance(given, bytes):
        found = list(given)
        if all(isinstance(token, str) and token and "\n" not in token for token in found):
            return [str(token) for token in found]
        wrong = next(
            token for token in found if not isinstance(token, str) or not token or "\n" in token
        )
        allowed = "a list of tokens that are texts without line breaks, and not empty"
        raise OptionError(f"X[{place}]", wrong, allowed, "Correct the token.")
    allowed = "texts, or lists of tokens"
    raise OptionError(f"X[{place}]", given, allowed, "Give an iterable of one of the two.")


def _check_words(count: int, without: Sequence[str], tokeniser: Tokeniser) -> None:
    """Warn of documents without words, where nine of ten have none.

    Raises:
        RefusedInputError: all have none.
    """
    if not wordless(count, len(without), {}):
        return
    losses, lost = Losses(tokeniser.settings), Counter[str]()
    for text in without[:MOST_TEXTS]:
        lost.update(losses.of(text))
    said = wordless(count, len(without), lost)
    if count == len(without):
        raise RefusedInputError(said)
    warnings.warn(said, stacklevel=4)


def _check_refused(read: int, letters: Sequence[DeadLetter]) -> None:
    counted = {"records_read": read}
    for letter in letters:
        name = f"dead_{letter.reason}"
        counted[name] = counted.get(name, 0) + 1
    found = refused(counted, [Example.of(letter).to_json() for letter in letters])
    if found is not None and found.is_failure:
        example = found.example
        where = f"{example.source}: {example.detail}" if example else found.reason
        raise RefusedInputError(
            f"{found.share} documents cannot be used, most of them for the reason {found.reason}"
            f" ({where}). Nothing was learned. Correct the documents."
        )
