"""Settings from options: each function checks what it returns, and its errors name the options.

The settings records of :mod:`beam_topics.model` check themselves. So a program that uses them
without a command line gets the same errors.

Files of words are read here, too. That of ``--seeds`` is YAML, with topics to begin with:

    space: [nasa, orbit, launch]
    hockey: goal team^300 season

It maps names of topics to words, as a list or separated by spaces. The number behind ``^`` is
that of the word's prior tokens, in place of ``--seed_strength``. The first name is that of topic 0.
The tokeniser of the run cuts each word, because documents have the words that it returns.

>>> from beam_topics.model.words.settings import TokeniserSettings
>>> from beam_topics.model.words.tokeniser import Tokeniser
>>> lines_of_text("space: [NASA, orbit]", "--seeds", "x.yaml", Tokeniser(TokeniserSettings()))
('space: nasa orbit',)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError
from beam_topics.model.files import read_text
from beam_topics.model.inference import METHOD, InferenceSettings
from beam_topics.model.learner_log.options import LearnOptions, RunSettings
from beam_topics.model.learners import LEARNER, LearnerSettings
from beam_topics.model.learners.seeds import word_and_tokens
from beam_topics.model.publishing.settings import StoreSettings, VersionSettings
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.settings.compositions import check_placed, compose, placements
from beam_topics.model.settings.options import plain_options
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.config import mapping_of
from beam_topics.pipelines.cli.groups import Options, fields_given, settings_of
from beam_topics.pipelines.cli.options import OUTPUTS, is_elsewhere

if TYPE_CHECKING:
    from beam_topics.model.publishing.manifest import Manifest
    from beam_topics.model.words.tokeniser import Tokeniser

_ALLOWED = "a YAML file that maps names of topics to words, as in: space: [nasa, orbit]"


def seeds_of_file(option: str, path: str, tokeniser: Tokeniser) -> tuple[str, ...]:
    """Return a line ``name: word word`` for each topic of a file.

    Args:
        option: the option that names the file.
        path: the file.
        tokeniser: cuts the words.

    Raises:
        OptionError: it cannot be read, is no such file, or has a word that the tokeniser does not
            return as one word.
    """
    return lines_of_text(read_text(option, path, _ALLOWED), option, path, tokeniser)


def lines_of_text(text: str, option: str, path: str, tokeniser: Tokeniser) -> tuple[str, ...]:
    """Return the lines of the text of a file; arguments and errors as :func:`seeds_of_file`."""
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
    """Return the one word that the tokeniser makes of a word, with the number behind it."""
    bare, tokens = word_and_tokens(word)
    found = list(tokeniser.words(bare))
    if len(found) != 1:
        what = " and ".join(map(repr, found)) or "nothing"
        allowed = "words that the tokeniser returns as one word"
        remedy = f"It returns {what}. Change the word, or the options of the tokeniser."
        raise OptionError(option, word, allowed, remedy)
    return found[0] if tokens is None else f"{found[0]}^{tokens}"


Words = Mapping[str, tuple[str, ...]]
NO_WORDS: Words = MappingProxyType({})


def check_outputs(given: Mapping[str, Any], local: bool = True) -> None:
    """Refuse an output that cannot be written, before any work is done.

    Args:
        given: options by name.
        local: whether this machine writes the outputs, so that their folders can be checked.

    Raises:
        OptionError: a path is on a file system that is not installed, or cannot be made.
    """
    # Imported here, because --help needs no Beam.
    from apache_beam.io.filesystems import FileSystems

    for name in OUTPUTS:
        path = given.get(name)
        if is_elsewhere(name, path):
            continue
        if local and path is not None and FileSystems.get_scheme(path) is None:
            # A report is one file, all else that --output names is a folder.
            is_file = name == "json" or (name == "output" and path.endswith(".html"))
            _check_can_be_made(f"--{name}", path, is_file=is_file)
        try:
            FileSystems.get_filesystem(path or "")
        except ValueError as error:
            scheme = FileSystems.get_scheme(path)
            remedy = (
                "Run: pip install 'apache-beam[gcp]'."
                if scheme == "gs"
                else "Correct the part before ://, or install what it needs."
            )
            allowed = f"a path on a file system that is installed, and {scheme}:// is not"
            raise OptionError(f"--{name}", path, allowed, remedy) from error


def _check_can_be_made(option: str, path: str, is_file: bool) -> None:
    """Refuse a path that is of another kind, or that this user may not write."""
    target = Path(path).absolute()
    nearest = next(place for place in (target, *target.parents) if os.access(place, os.F_OK))
    if nearest == target and target.is_dir() == is_file:
        why = "is a folder" if is_file else "is a file"
    elif nearest != target and not nearest.is_dir():
        why = "is a file"
    elif not os.access(nearest, os.W_OK):
        why = "may not be written by this user"
    else:
        return
    raise OptionError(
        option,
        path,
        f"a {'file' if is_file else 'folder'} that is there, or can be made",
        f"{nearest} {why}.",
    )


def read_settings_of(options: Options) -> ReadSettings:
    """Return the settings of reading.

    Raises:
        OptionError: a value cannot be used, or has no effect beside another option.
    """
    settings = settings_of(options, ReadSettings)
    given = options.given(item.name for item in plain_options(ReadSettings))
    _refuse_beside("id_from", "place", given, ["id_field"])
    for kind in ("order", "path"):
        _refuse_beside("time_from", kind, given, ["timestamp_field", "timestamp_format"])
    return settings


def _refuse_beside(option: str, value: str, given: Mapping[str, Any], names: list[str]) -> None:
    """Refuse options that have no effect where ``option`` has this value."""
    for name in names:
        if given.get(option) == value and name in given:
            allowed = f"nothing with --{option}={value}"
            raise OptionError(f"--{name}", given[name], allowed, "Leave one of the two out.")


def chosen_version(options: Options) -> Manifest:
    """Return the version of the model store that the options name.

    Raises:
        OptionError: there is no such version.
    """
    # Imported here, because --help needs no store.
    from beam_topics.model.publishing.store import ModelStore

    which = settings_of(options, VersionSettings)
    return ModelStore(settings_of(options, StoreSettings).root).manifest(which.key, which.version)


def tokeniser_settings_of(options: Options, words: Words = NO_WORDS) -> TokeniserSettings:
    """Return the settings of the tokeniser; a file of stop words is read here.

    Args:
        options: the parsed command line.
        words: lists of words by option, in place of files.
    """
    # Imported here, because --help needs no tokeniser.
    from beam_topics.model.words.tokeniser import tokeniser_settings

    given = fields_given(options, TokeniserSettings)
    given |= {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    if stop_list := words.get("stop_words_file"):
        made = tokeniser_settings(**{**given, "stop_words": TokeniserSettings.stop_words})
        return replace(made, stop_words="file", stop_list=stop_list)
    return tokeniser_settings(stop_words_file=given.pop("stop_list", None), **given)


def learner_settings_of(options: Options, words: Words = NO_WORDS) -> LearnerSettings:
    """Return the settings of the learner; files of words are read here.

    Args:
        options: the parsed command line.
        words: lists of words by option, in place of files.
    """
    found = [LEARNER.option(), *(placement.option for placement in placements(LEARNER))]
    given = options.given(item.name for item in found)
    # Before a file is read that does not belong here.
    check_placed(LEARNER, given)
    files = {option.name: option.file for option in found if option.file and option.name in given}
    read = {name: _words(name, given[name], kind, options) for name, kind in files.items()}
    listed = {item.name: words[item.name] for item in found if item.name in words}
    return compose(LEARNER, {**given, **read, **listed})


def learn_options_of(options: Options, words: Words = NO_WORDS) -> LearnOptions:
    """Return the checked options of learning.

    Args:
        options: the parsed command line.
        words: lists of words by option, in place of files.

    Raises:
        OptionError: a value cannot be used, or needs another option.
    """
    settings = learner_settings_of(options, words)
    tokeniser, parse = tokeniser_settings_of(options, words), read_settings_of(options).parse
    fields = parse.fields
    if tokeniser.has_keys and fields.key is not None:
        allowed = "nothing beside --key_from, which takes the keys from the texts"
        raise OptionError("--key_field", fields.key, allowed, "Leave one of the two out.")
    if settings.max_source_share < 1 and fields.source is None:
        raise OptionError(
            "--max_source_share",
            settings.max_source_share,
            "1 without --source_field",
            "Give --source_field, the field with the author or other source.",
        )
    return LearnOptions(
        settings=settings,
        tokeniser=tokeniser,
        sequence=settings_of(options, SequenceSettings),
        store=settings_of(options, StoreSettings).root,
        run=settings_of(options, RunSettings),
        keep=options.get("keep"),
        id_from=parse.id_from,
    )


def inference_settings_of(options: Options) -> InferenceSettings:
    """Return the settings of the inference method that ``--method`` names."""
    return compose(
        METHOD,
        {**options.given([METHOD.name]), **inference_options_of(options)},
    )


def inference_options_of(options: Options) -> dict[str, Any]:
    """Return the options of inference that are given, by name, without the method."""
    return options.given(placement.option.name for placement in placements(METHOD))


def _words(name: str, path: str, kind: str, options: Options) -> tuple[str, ...]:
    """Return the words of a file: its lines, or the sorted words that the tokeniser finds in it.

    A file of seeds gives a line for each topic.
    """
    from beam_topics.model.words.tokeniser import Tokeniser

    if kind == "seeds":
        return seeds_of_file(f"--{name}", path, Tokeniser(tokeniser_settings_of(options)))
    lines = read_text(f"--{name}", path, "a UTF-8 text file, one word a line").split("\n")
    if kind == "lines":
        return tuple(dict.fromkeys(word for line in lines if (word := line.strip())))
    cut = Tokeniser(tokeniser_settings_of(options))
    words = {word for line in lines for word in cut.words(line)}
    if not words:
        allowed = "a file with at least one word that the tokeniser keeps"
        raise OptionError(f"--{name}", path, allowed, "Leave it out to learn from the stream.")
    return tuple(sorted(words))
