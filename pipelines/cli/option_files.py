r"""Files that options name: options themselves, topics to begin with, and lists of words.

``--config=FILE`` maps names of options to values, as the command line writes them. Text is not
interpreted as YAML would do (``no`` is not false, ``1:30`` is not a number). A list stands for
values with commas. An option of the command line wins. A key that no program has is refused. One
that only other programs have is left out, so that all programs of a project may share a file.

>>> options_of_text("window: 1d\ntopics: 7\ndigits: true\ninput: [a.csv, b.csv]", "x.yaml")
{'window': '1d', 'topics': '7', 'digits': 'true', 'input': 'a.csv,b.csv'}

``--seeds=FILE`` is YAML, too:

    space: [nasa, orbit, launch]
    hockey: goal team^300 season

It maps names of topics to words, as a list or separated by spaces. The number after ``^`` is
that of the word's prior tokens, in place of ``--seed_strength``. The first name is that of topic 0.
The tokeniser of the run cuts each word, because documents have the words that it returns.

>>> from beam_topics.model.words.tokeniser import Tokeniser
>>> lines_of_text("space: [NASA, orbit]", "--seeds", "x.yaml", Tokeniser(TokeniserSettings()))
('space: nasa orbit',)

:func:`mapping_of` reads both, and rules of alarms. Aliases may stand for more than a file holds, so
they are refused, as is a key that is there twice, which would hide a value.

>>> mapping_of("a: [1, no]\nb: x", "--config", "x.yaml", "names and values")
{'a': ['1', 'no'], 'b': 'x'}
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from beam_topics.model.errors import OptionError, did_you_mean
from beam_topics.model.files import read_text
from beam_topics.model.learners.seeds import word_and_tokens
from beam_topics.model.settings.options import Record, option
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.groups import (
    OptionGroup,
    Options,
    UsageError,
    fields_given,
    values_in,
)

if TYPE_CHECKING:
    from beam_topics.model.words.tokeniser import Tokeniser

FLAG = "--config"
Words = Mapping[str, tuple[str, ...]]
NO_WORDS: Words = MappingProxyType({})
_ALLOWED = "a YAML file that maps names of topics to words, as in: space: [nasa, orbit]"
# Options and seeds are a mapping of names to texts or to lists of texts.
_DEEPEST = 8


@dataclass(frozen=True)
class _ConfigSettings(Record):
    """Where more options are."""

    config: str = option("", "YAML file of options, name: value; options of the command line win")


ConfigOptions = OptionGroup("Options in a file", _ConfigSettings)


def mapping_of(text: str, option: str, path: str, allowed: str) -> dict[str, Any]:
    """Return the mapping that the text of a file holds.

    Raises:
        OptionError: it is not YAML, is no mapping, has an alias or a key twice, or nests deeper
            than eight levels.
    """
    # Imported here, because most command lines have no such file. Beam needs the package.
    import yaml

    try:
        # A file of frozen topics has thousands of words; the parser in C reads it in a second.
        events = yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        found = _built(events, yaml)
    except yaml.YAMLError as error:
        why = " ".join(str(error).split())
        raise OptionError(option, path, allowed, f"It is not YAML: {why}.") from error
    except _RefusedError as error:
        raise OptionError(option, path, allowed, str(error)) from error
    if not isinstance(found, dict):
        raise OptionError(option, path, allowed, "Correct the file.")
    return found


class _RefusedError(ValueError):
    """YAML that this project does not take."""


def _built(events: Iterable[Any], yaml: Any) -> Any:
    """Return the value of a document; a stack in place of recursion holds what is open."""
    found: Any = None
    opened: list[tuple[Any, list[str]]] = []
    for event in events:
        line = f"Line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            raise _RefusedError(f"{line}: write the value in place of the alias *{event.anchor}.")
        if isinstance(event, yaml.DocumentStartEvent) and found is not None:
            raise _RefusedError(f"{line}: a second document begins. Keep one in a file.")
        if isinstance(event, yaml.CollectionStartEvent):
            if len(opened) == _DEEPEST:
                raise _RefusedError(f"{line}: values nest deeper than {_DEEPEST} levels.")
            opened.append(([] if isinstance(event, yaml.SequenceStartEvent) else {}, []))
            continue
        if isinstance(event, yaml.ScalarEvent):
            value = event.value
        elif isinstance(event, yaml.CollectionEndEvent):
            value = opened.pop()[0]
        else:
            continue
        if opened:
            _add(*opened[-1], value, line)
        else:
            found = value
    return found


def _add(holder: Any, key: list[str], value: Any, line: str) -> None:
    """Add a value to a list, or to a mapping, where the first of two values is the key."""
    if isinstance(holder, list):
        holder.append(value)
    elif key:
        holder[key.pop()] = value
    elif not isinstance(value, str):
        raise _RefusedError(f"{line}: a name is a list or a mapping. Write it as text.")
    elif value in holder:
        raise _RefusedError(f"{line}: {value!r} is there twice. Leave one of the two out.")
    else:
        key.append(value)


def expanded(flags: Sequence[str], own: Collection[str], known: Collection[str]) -> list[str]:
    """Return a command line with the options of its ``--config`` before the others."""
    path = values_in(flags).get(FLAG.removeprefix("--"))
    if path is None:
        return list(flags)
    found = read_config(path, known)
    return [
        *(f"--{name}={value}" for name, value in found.items() if name in own),
        # Beam's switches take no value.
        *(f"--{n}={v}".removesuffix("=true") for n, v in found.items() if n not in known),
        *(one for one in flags if one.partition("=")[0] != FLAG),
    ]


def read_config(path: str, known: Collection[str]) -> dict[str, str]:
    """Return the options of a file."""
    text = read_text(FLAG, path, "a YAML file of options, UTF-8")
    found = options_of_text(text, path)
    for name in found:
        if name not in known and not _is_of_beam(name):
            hint = did_you_mean(name, known, "Leave it out.")
            raise UsageError(f"{path}: {name!r} is no option of any program. {hint}")
    return found


def options_of_text(text: str, path: str) -> dict[str, str]:
    """Return the options of the text of a file."""
    allowed = "a YAML file that maps names of options to values, as in: topics: 50"
    found = mapping_of(text, FLAG, path, allowed)
    return {name: _written(name, value, path) for name, value in found.items()}


def _written(name: str, value: Any, path: str) -> str:
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return ",".join(value)
    if isinstance(value, str) and value:
        return value
    what = "nothing" if value in ("", []) else f"a {type(value).__name__}"
    raise OptionError(
        FLAG, path, "a value or a list of values for each name", f"{name!r} has {what}."
    )


def _is_of_beam(name: str) -> bool:
    # Imported here, because the import takes seconds, and only a name of Beam's needs it.
    from apache_beam.options.pipeline_options import PipelineOptions

    return name in PipelineOptions().get_all_options()


def lines_of_text(text: str, option: str, path: str, tokeniser: Tokeniser) -> tuple[str, ...]:
    """Return a line ``name: word word`` for each topic of a file."""
    found = mapping_of(text, option, path, _ALLOWED)
    if not found:
        raise OptionError(option, path, _ALLOWED, "Correct the file.")
    return tuple(_line(option, name, words, tokeniser) for name, words in found.items())


def _line(option: str, name: str, words: Any, tokeniser: Tokeniser) -> str:
    listed = words.split() if isinstance(words, str) else words
    texts = isinstance(listed, list) and all(isinstance(word, str) for word in listed)
    if not texts or not listed or not name.strip():
        raise OptionError(option, f"{name}: {words}"[:80], _ALLOWED, "Correct the entry.")
    if ": " in name or "\n" in name:
        allowed = "names of one line without a colon and a space"
        raise OptionError(option, name, allowed, "Change the name.")
    return f"{name.strip()}: {' '.join(_cut(option, word, tokeniser) for word in listed)}"


def _cut(option: str, word: str, tokeniser: Tokeniser) -> str:
    """Return the one word that the tokeniser makes of a word, with the number after it."""
    bare, tokens = word_and_tokens(word)
    found = one_word(option, bare, tokeniser)
    return found if tokens is None else f"{found}^{tokens}"


def one_word(option: str, word: str, tokeniser: Tokeniser) -> str:
    """Return the one word that the tokeniser makes of a word.

    Raises:
        OptionError: It makes several, or none.
    """
    found = list(tokeniser.words(word))
    if len(found) != 1:
        what = " and ".join(map(repr, found)) or "nothing"
        allowed = "words that the tokeniser returns as one word"
        remedy = f"It returns {what}. Change the word, or the options of the tokeniser."
        raise OptionError(option, word, allowed, remedy)
    return found[0]


def tokeniser_settings_of(options: Options, words: Words = NO_WORDS) -> TokeniserSettings:
    """Return the settings of the tokeniser; a file of stop words is read here."""
    # Imported here, because --help needs no tokeniser.
    from beam_topics.model.words.tokeniser import tokeniser_settings

    given = fields_given(options, TokeniserSettings)
    if stop_list := words.get("stop_words_file"):
        made = tokeniser_settings(**{**given, "stop_words": TokeniserSettings.stop_words})
        return replace(made, stop_words="file", stop_list=stop_list)
    return tokeniser_settings(stop_words_file=given.pop("stop_list", None), **given)


def words_of(name: str, path: str, kind: str, options: Options) -> tuple[str, ...]:
    """Return the words of a file: its lines, or the sorted words that the tokeniser finds in it.

    A file of seeds gives a line for each topic.
    """
    from beam_topics.model.words.tokeniser import Tokeniser

    if kind == "seeds":
        text = read_text(f"--{name}", path, _ALLOWED)
        return lines_of_text(text, f"--{name}", path, Tokeniser(tokeniser_settings_of(options)))
    lines = read_text(f"--{name}", path, "a UTF-8 text file, one word a line").split("\n")
    if kind == "lines":
        return tuple(dict.fromkeys(word for line in lines if (word := line.strip())))
    cut = Tokeniser(tokeniser_settings_of(options))
    words = {word for line in lines for word in cut.words(line)}
    if not words:
        allowed = "a file with at least one word that the tokeniser keeps"
        raise OptionError(f"--{name}", path, allowed, "Leave it out to learn from the stream.")
    return tuple(sorted(words))
