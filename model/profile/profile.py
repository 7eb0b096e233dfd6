"""The profile of an input: how it is written, what its fields are, and the options that say so.

What is clear becomes an option. What is not clear is a question, with the options that answer it.
What a user should know becomes a remark.

    samples = take_samples(["posts.csv"], ReadSettings(), given=())
    profile = profile_of(samples, ReadSettings(), given={})
    profile.options            # {'text_field': 'headline', ...}

Lengths of windows and of publication fit the mass of the documents. A time of 1970 or 2204 among
thousands of other years is an outlier: it is named, and the lengths are chosen without it.

>>> day = 86_400_000_000
>>> span = span_of([-20_000 * day, *(number * day for number in range(1000))])
>>> len(span.outliers), lengths_of(span)
(1, {'window': '7d', 'publish_every': '30d'})
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from beam_topics.model.files import folder_of
from beam_topics.model.profile.fields import (
    Field,
    Question,
    Roles,
    fields_of,
    option,
    roles_of,
    times_of,
)
from beam_topics.model.profile.sampling import FileSample, Samples, sample_file
from beam_topics.model.reading.found_forms import listed
from beam_topics.model.reading.lines import peeked, unzipped
from beam_topics.model.reading.paths import Record, value_of
from beam_topics.model.reading.settings import ENCODED, METADATA, ReadSettings
from beam_topics.model.reading.texts import choices_of, keyed_date, time_of_path
from beam_topics.model.settings.options import names_in, names_text
from beam_topics.model.times import DURATION_UNITS, MICROSECONDS_PER_SECOND, to_iso
from beam_topics.model.words.cleaning import find_markup, stripping
from beam_topics.model.words.languages import FoundLanguage, language_of
from beam_topics.model.words.settings import TokeniserSettings

_WINDOWS = ("1min", "10min", "1h", "6h", "1d", "7d", "30d", "365d")
_PERIODS = ("10min", "1h", "6h", "1d", "7d", "30d", "91d", "365d", "1461d", "3652d")
# The most windows and versions of a run whose lengths are chosen here.
_MOST_WINDOWS = 400
_MOST_VERSIONS = 40
# The share of the times at each end that decides nothing, and the distance of an outlier from the
# others, as a multiple of their span.
_TRIMMED, _FAR = 0.025, 3
_LEAST_TIMES = 10


@dataclass(frozen=True)
class Span:
    """How times lie. All are in microseconds since 1970.

    Attributes:
        first, last: the first and the last time that is not an outlier.
        quantiles: the times before which 1 %, 25 %, 50 %, 75 % and 99 % of them are.
        outliers: the times that are far from all others, in order.
    """

    first: int
    last: int
    quantiles: tuple[int, int, int, int, int]
    outliers: tuple[int, ...]


def span_of(times: Sequence[int]) -> Span | None:
    """Return how times lie; None if there is none."""
    ordered = sorted(times)
    if not ordered:
        return None
    trimmed = max(1, round(_TRIMMED * len(ordered))) if len(ordered) >= _LEAST_TIMES else 0
    low, high = ordered[trimmed], ordered[-1 - trimmed]
    far = max(_FAR * (high - low), DURATION_UNITS["d"])
    mass = [time for time in ordered if low - far <= time <= high + far]
    outliers = tuple(time for time in ordered if not low - far <= time <= high + far)
    at = [round(part * (len(mass) - 1)) for part in (0.01, 0.25, 0.5, 0.75, 0.99)]
    first, quarter, half, three, last = (mass[one] for one in at)
    return Span(mass[0], mass[-1], (first, quarter, half, three, last), outliers)


def lengths_of(span: Span) -> dict[str, str]:
    """Return ``window`` and ``publish_every`` for documents of these times."""
    size = max(span.last - span.first, 1)
    window = _first(_WINDOWS, size / _MOST_WINDOWS)
    return {
        "window": window,
        "publish_every": _first(_PERIODS, max(size / _MOST_VERSIONS, _micros(window))),
    }


def _first(lengths: Sequence[str], least: float) -> str:
    """Return the shortest length of time that is long enough, or the longest of all."""
    return next((one for one in lengths if _micros(one) >= least), lengths[-1])


def _micros(length: str) -> int:
    unit = length.lstrip("0123456789")
    return int(length.removesuffix(unit)) * DURATION_UNITS[unit]


# Options with which the words of a language are not chosen.
_OF_WORDS = {"stop_words", "stop_words_file", "segmenter", "key_from", "tokeniser"}
# The texts whose language and markup are looked at.
_MOST_TEXTS = 500
# The share of rows of another length that stops a run.
_MOST_RAGGED = 0.2
# Text files whose lines may be documents: at most this many, judged by their first characters.
_FEW_FILES, _BEGINNING = 3, 2**20
# The documents for each topic below which the topics are too many.
_FEW = 5
_MOST_NAMED = 3
# What stands for a field that there is none of.
_PATHS = "path"
_WITHOUT = {"text": "none", "time": "the order of the records", "id": "the places of the records"}


@dataclass(frozen=True)
class Profile:
    """What an input is.

    Attributes:
        samples: what was read of it.
        fields: what the fields of its records hold, with their roles.
        form: how its times are written; "" where the order of the records is their time.
        span: how its times lie; None without times.
        language: the languages of its texts; None if they are not known, or not asked for.
        markup: what its texts have that is not text, by the values of ``--strip``.
        repeated: the number of ids of the sample that occur more than once.
        options: how it is read: options with their values, those that differ from the defaults.
        learning: the options of words and of time that fit it.
        questions: what is not clear.
        remarks: what a user should know.
    """

    samples: Samples
    fields: tuple[Field, ...] = ()
    form: str = ""
    span: Span | None = None
    language: FoundLanguage | None = None
    markup: tuple[str, ...] = ()
    repeated: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    learning: Mapping[str, str] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    remarks: tuple[str, ...] = ()

    def summary(self) -> list[tuple[str, str]]:
        """Return the profile in a few lines: what each is about, and what was found."""
        samples, span = self.samples, self.span
        first = samples.files[0] if len(samples.files) == 1 else f"{len(samples.files):,} files"
        seen = f"by a sample of {len(samples.records):,}"
        number = (
            f"{samples.documents:,}" if samples.whole else f"about {samples.documents:,}, {seen}"
        )
        how = [", ".join(dict.fromkeys(one.format for one in samples.sampled))]
        # Another encoding than the usual one says most.
        how += sorted((o.encoding for o in samples.sampled if o.encoding), key="utf-8".__eq__)[:1]
        if layout := next(filter(None, (one.layout for one in samples.sampled)), None):
            how.append(layout.word)
            how.append("names in the first row" if layout.header else "no names in the first row")
        found = [("input", first), ("documents", number), ("form", ", ".join(filter(None, how)))]
        for role in _WITHOUT if self.fields else ():
            names = [one.name for one in self.fields if one.role == role]
            without = "the paths of the files" if role == "time" and self.form == _PATHS else None
            found.append((role, ", ".join(names) or without or _WITHOUT[role]))
        if span is not None and self.form:
            form = "" if self.form in ("iso", _PATHS) else f", written {self.form}"
            days = [to_iso(one)[:10] for one in (span.first, span.last, span.quantiles[2])]
            found.append(("times", f"{days[0]} to {days[1]}, half of them up to {days[2]}{form}"))
            if span.outliers:
                found.append(("outliers", _named(span.outliers)))
        if self.language is not None:
            shares = self.language.shares.items()
            found.append(("language", ", ".join(f"{code} {share:.0%}" for code, share in shares)))
        if self.markup:
            found.append(("markup", ", ".join(self.markup)))
        if self.repeated:
            found.append(("repeated ids", f"{self.repeated:,}"))
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the profile as values of JSON."""
        span, columns = self.span, ("name", "role", "type", "filled", "different", "example")
        times = span and {
            "form": self.form,
            "first": to_iso(span.first),
            "last": to_iso(span.last),
            "quantiles": list(map(to_iso, span.quantiles)),
            "outliers": list(map(to_iso, span.outliers)),
        }
        return {
            "summary": [list(pair) for pair in self.summary()],
            "files": list(self.samples.files),
            "documents": self.samples.documents,
            "exact": self.samples.whole,
            "sampled": len(self.samples.records),
            "fields": [{name: getattr(one, name) for name in columns} for one in self.fields],
            "times": times,
            "languages": self.language and self.language.shares,
            "options": {**self.options, **self.learning},
            "questions": list(map(str, self.questions)),
            "remarks": list(self.remarks),
        }


def chooses_words(given: Collection[str]) -> bool:
    """Return whether the words of a language are chosen, given some options."""
    return not _OF_WORDS & set(given)


def profile_of(
    samples: Samples,
    settings: ReadSettings,
    given: Mapping[str, str],
    with_language: bool = True,
) -> Profile:
    """Return the profile of an input."""
    options, questions, remarks = _written(samples, settings, given)
    records = _deciding(samples)[0]
    if questions or not records:
        return Profile(samples, options=options, questions=tuple(questions), remarks=tuple(remarks))
    units = {name: unit for one in samples.sampled for name, unit in one.units.items()}
    fields = fields_of(records, units, (settings.parse.fields.timestamp,))
    roles = roles_of(fields, records, settings.parse.fields, given)
    dated = _of_paths(samples, roles, settings, given)
    if not {"text_field", "records"} & set(given) and "id_from" in roles.options:
        roles.questions += _pieces(samples, roles)
    fields = [replace(one, role=roles.roles.get(one.name, "")) for one in fields]
    form, span = _times(fields, samples, roles, settings, given)
    if dated and not roles.questions:
        form, span = _PATHS, span_of(dated)
    texts = _texts(fields, records)
    markup, language = find_markup(texts), language_of(texts) if with_language else None
    strip, lost = stripping(texts, markup, given.get("strip"))
    repeated, notes = _repeated(samples, fields)
    remarks += _of_fields(fields, records)
    if span is not None and span.outliers:
        remarks.append(
            f"{len(span.outliers):,} of {len(records):,} times are far from all others:"
            f" {_named(span.outliers)}. The lengths of time are those of the others."
        )
    remarks += [*notes, lost]
    learning = learning_options(strip, language, span, given)
    return Profile(
        samples,
        tuple(fields),
        form,
        span,
        language,
        markup,
        repeated,
        {**options, **roles.options},
        learning,
        tuple(roles.questions),
        tuple(filter(None, remarks)),
    )


def _of_paths(
    samples: Samples, roles: Roles, settings: ReadSettings, given: Mapping[str, str]
) -> list[int]:
    """Return the times of the sample that the paths of its files say; none where others are used.

    Dates in folders ``key=value`` are the times of records that have none. Other dates in paths may
    be those of an export, and are asked for where they differ.
    """
    if roles.options.get("time_from") != "order" and given.get("time_from") != "path":
        return []
    folder = folder_of(samples.files)
    times = {path: time_of_path(path, folder, settings) for path in samples.files}
    found = [time for one in samples.sampled if (time := times[one.path]) for _ in one.records]
    if "time_from" in given:
        return found
    if None not in times.values() and all(map(keyed_date, times)):
        roles.options["time_from"] = "path"
        return found
    if len(set(times.values()) - {None}) > 1:
        dated = next(path for path, time in times.items() if time)
        text = f"the records have no times, and the paths of files have dates, as {dated!r} has."
        choices = ("--time_from=path", "--time_from=order")
        if None in times.values():
            text += " Files without a date become dead letters with --time_from=path."
            choices = choices[::-1]
        del roles.options["time_from"]
        roles.questions.append(Question(("time_from",), text, choices))
    return []


def learning_options(
    strip: str,
    language: FoundLanguage | None,
    span: Span | None,
    given: Collection[str],
) -> dict[str, str]:
    """Return the options of words and of time that fit some documents."""
    found = {} if span is None or {"window", "publish_every"} & set(given) else lengths_of(span)
    if strip:
        found["strip"] = strip
    if language is not None and chooses_words(given):
        found |= language.options
        if found["stop_words"] == TokeniserSettings.stop_words:
            del found["stop_words"]
    return {name: value for name, value in found.items() if name not in given}


def few_documents(documents: int, topics: int) -> str:
    """Return what to say of a number of topics that is large for the documents; "" for nothing."""
    if documents >= _FEW * topics:
        return ""
    fitting = max(2, documents // 20)
    return (
        f"{documents:,} documents are few for {topics:,} topics: most topics stay empty or share"
        f" their words. --topics={fitting} gives each topic about"
        f" {max(documents // fitting, 1)} documents."
    )


def _written(
    samples: Samples, settings: ReadSettings, given: Collection[str]
) -> tuple[dict[str, str], list[Question], list[str]]:
    """Return the options, questions and remarks of how the files are written."""
    options: dict[str, str] = {}
    questions: list[Question] = []
    remarks = [
        f"{one.path}: {one.unread:,} of {one.count:,} records cannot be read, the first because"
        f" {one.fault}. They become dead letters."
        for one in samples.sampled
        if one.unread and not _is_ragged(one)
    ][:_MOST_NAMED]
    if "encoding" not in given:
        _find_encoding(samples, options, questions)
    tables = [one for one in samples.sampled if one.layout is not None and one.layout.names]
    if "columns" not in given:
        _find_columns(tables, options, questions)
    if "unquoted_field" not in given and (ragged := next(filter(_is_ragged, tables), None)):
        questions.append(_ragged(ragged, settings, given))
    if others := _deciding(samples)[1]:
        remarks.append(f"{listed(others)}: no messages; their records become dead letters.")
    return options, [*questions, *_lines(samples, given)], remarks


def _deciding(samples: Samples) -> tuple[list[Record], list[str]]:
    """Return the records that decide the fields, and the lists of users and others next to them."""
    others = [one.path for one in samples.sampled if Path(one.path).name in METADATA]
    others = others if len(others) < len(samples.sampled) else []
    return [r for one in samples.sampled if one.path not in others for r in one.records], others


def _pieces(samples: Samples, roles: Roles) -> list[Question]:
    """Return the question whether files are documents, whose arrays have no ids and no times."""
    inner = [one for one in samples.sampled if one.inner]
    if len(inner) < 2 or roles.questions or roles.options.get("time_from") != "order":
        return []
    whole = json.loads(Path(inner[0].path).read_bytes())
    sizes = {n: len(json.dumps(found)) for n, found in whole.items() if isinstance(found, list)}
    array = max(sizes, key=lambda name: sizes[name])
    text = f"the elements of {array!r} in each file are documents, or one text."
    names = names_in(roles.options.get("text_field", roles.body))
    one = option("text_field", names_text([f"{array}[].{name}" for name in names]))
    return [Question(("text_field", "records"), text, (one, option("records", array)))]


def _lines(samples: Samples, given: Collection[str]) -> list[Question]:
    """Return the question whether each line of a few files of text is a document."""
    few = [one for one in samples.sampled if one.format == "txt"]
    if "format" in given or not few or len(samples.files) > _FEW_FILES:
        return []
    texts = []
    for one in few:
        with Path(one.path).open("rb") as stream:
            head = peeked(unzipped(stream), _BEGINNING)[0]
        texts.append(head.decode(one.encoding or "utf-8", "replace"))
    what, choices = choices_of(texts)
    text = f"{few[0].path}: its lines look like {what}, and a file of text is one document."
    return [Question(("format",), text, choices)] if choices else []


def _find_encoding(samples: Samples, options: dict[str, str], questions: list[Question]) -> None:
    texts = [one for one in samples.sampled if one.format in ENCODED and one.size]
    for one in texts:
        if one.encoding is None:
            text = f"{one.path}: its bytes are neither UTF-8 nor of another encoding that is known."
            questions.append(Question(("encoding",), text, ("--encoding=latin-1", "another one")))
            return
    others = {one.encoding: one for one in texts if not _is_ascii(one)}
    if len(others) > 1:
        named = ", ".join(f"{one.path} is {encoding}" for encoding, one in others.items())
        text = f"the files have several encodings: {named}."
        choices = tuple(f"--encoding={encoding} with the files of it alone" for encoding in others)
        questions.append(Question(("encoding",), text, choices))
    elif others and (encoding := next(iter(others))) not in (None, "utf-8"):
        options["encoding"] = str(encoding)


def _is_ascii(sample: FileSample) -> bool:
    texts = (value for one in sample.records for value in one.values() if isinstance(value, str))
    return sample.encoding == "utf-8" and all(map(str.isascii, texts))


def _find_columns(
    tables: Sequence[FileSample], options: dict[str, str], questions: list[Question]
) -> None:
    bare = [one for one in tables if one.layout is not None and not one.layout.header]
    if not bare or bare[0].layout is None:
        return
    if len(bare) < len(tables):
        named = next(one for one in tables if one not in bare)
        text = f"{named.path} names its columns and {bare[0].path} does not."
        choices = ("--columns=NAME,NAME with the files that do not name them alone",)
        questions.append(Question(("columns",), text, choices))
    else:
        options["columns"] = ",".join(bare[0].layout.names)


def _is_ragged(sample: FileSample) -> bool:
    return sample.layout is not None and sample.layout.others > _MOST_RAGGED


def _ragged(sample: FileSample, settings: ReadSettings, given: Collection[str]) -> Question:
    """Return the question for rows that have another number of fields than the header."""
    layout = sample.layout
    assert layout is not None, "only CSV files are ragged"
    text = (
        f"{sample.path}: most rows have {layout.width} fields, the header {len(layout.names)}."
        if layout.width != len(layout.names)
        else f"{sample.path}: {layout.others:.0%} of the rows have not {layout.width} fields as the"
        " header has."
    )
    likely = [name for name in layout.names if _joins(sample, name, settings, given)]
    if not likely:
        names = option("columns", ",".join(f"column{at}" for at in range(1, layout.width + 1)))
        return Question(("columns",), f"{text} Correct the first row.", (names,))
    text += f" Texts seem to contain the delimiter ({layout.word}) without quotes."
    choices = [option("unquoted_field", name) for name in likely[:_MOST_NAMED]]
    return Question(("unquoted_field",), text, (*choices, "write these texts in quotes"))


def _joins(sample: FileSample, name: str, settings: ReadSettings, given: Collection[str]) -> bool:
    """Return whether rows are sound if the fields that are too many are part of a column."""
    found = sample_file(sample.path, replace(settings, unquoted_field=name), given)
    fields = {one.name: one for one in fields_of(found.records, {})}
    if name not in fields or found.unread > _MOST_RAGGED * found.count:
        return False
    others = [one for one in fields.values() if one.name != name]
    return fields[name].type == "text" and all(one.type != "text" for one in others)


def _times(
    fields: Sequence[Field],
    samples: Samples,
    roles: Roles,
    settings: ReadSettings,
    given: Collection[str],
) -> tuple[str, Span | None]:
    """Return the form of the times, and how they lie."""
    records, documents = samples.records, samples.documents
    time = next((one for one in fields if one.role == "time"), None)
    if time is None:
        if any(one.choices[:1] and "timestamp_" in one.choices[0] for one in roles.questions):
            return "", None
        last = max(documents - 1, 0) * MICROSECONDS_PER_SECOND
        return "", span_of([0, last // 4, last // 2, 3 * last // 4, last])
    form = roles.options.get("timestamp_format", settings.parse.timestamp_format)
    if time.form is None and time.unit is None and "timestamp_format" not in given:
        return form, None
    if time.form is not None and (len(time.form.forms) > 1 or time.form.also):
        form = form if "timestamp_format" in given else time.form.forms[0]
    times = times_of(records, time, form, settings.parse.time_zone)
    return form, span_of([one for one in times if one is not None])


def _texts(fields: Sequence[Field], records: Sequence[Record]) -> list[str]:
    names = [one.name for one in fields if one.role == "text"]
    looked = records[:: -(-len(records) // _MOST_TEXTS)]
    found = (
        "\n".join(str(value) for name in names if (value := value_of(one, name))) for one in looked
    )
    return [text for text in found if text.strip()]


def _repeated(samples: Samples, fields: Sequence[Field]) -> tuple[int, list[str]]:
    """Return the number of ids that occur more than once, and what to say of them."""
    name = next((one.name for one in fields if one.role == "id"), None)
    if name is None:
        return 0, []
    ids = (value_of(one, name) for one in samples.records)
    counts = Counter(str(one) for one in ids if one is not None)
    repeated = [value for value, count in counts.items() if count > 1]
    if not repeated:
        return 0, []
    files = [
        one.path
        for one in samples.sampled
        if any(str(value_of(record, name)) == repeated[0] for record in one.records)
    ]
    where = f"in {' and '.join(files[:_MOST_NAMED])}"
    seen = "" if samples.whole else " of the sample"
    return len(repeated), [
        f"{len(repeated):,} ids{seen} occur more than once, for example {repeated[0][:40]!r}"
        f" {where}. Of the documents of one window with one id, the first is learned, with"
        " --on_repeat=last the last; the others become dead letters. --id_from=place gives each"
        " record an id of its own."
    ]


def _of_fields(fields: Sequence[Field], records: Sequence[Record]) -> list[str]:
    texts = [one for one in fields if one.role == "text"]
    found = []
    if texts:
        values = ([value_of(one, text.name) for text in texts] for one in records)
        full = (any(str(value or "").strip() for value in each) for each in values)
        if empty := sum(not text for text in full):
            found.append(
                f"{empty:,} of {len(records):,} records have no text. They become dead letters."
            )
    for one in fields:
        if one.role == "time" and (lacking := round((1 - one.filled) * len(records))):
            found.append(
                f"{lacking:,} of {len(records):,} records have no time in {one.name!r}. They become"
                " dead letters; --time_from=order learns all records in their order."
            )
        if one.role == "time" and re.search(r"[0-9][eE]\+?[0-9]", one.example):
            found.append(
                f"The times of {one.name!r} are rounded, for example {one.example!r}: a spreadsheet"
                " has written them so."
            )
        if one.role == "time" and one.form is not None and one.form.read < one.form.of:
            found.append(
                f"{one.form.of - one.form.read:,} of {one.form.of:,} times of {one.name!r} have"
                f" another form, for example {one.form.example!r}. They become dead letters."
            )
    return found


def _named(times: Sequence[int]) -> str:
    named = ", ".join(to_iso(time)[:10] for time in times[:_MOST_NAMED])
    return f"{named} and others" if len(times) > _MOST_NAMED else named
