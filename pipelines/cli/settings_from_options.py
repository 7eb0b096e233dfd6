"""Settings from options: each function checks what it returns, and its errors name the options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import OptionError
from beam_topics.model.inference import METHOD, InferenceSettings
from beam_topics.model.learner_log.options import LearnOptions, RunSettings
from beam_topics.model.learners import LEARNER, LearnerSettings
from beam_topics.model.publishing.settings import StoreSettings
from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.settings.compositions import check_placed, compose
from beam_topics.model.settings.options import plain_options
from beam_topics.pipelines.cli.groups import Options, options_of_choice, settings_of
from beam_topics.pipelines.cli.option_files import NO_WORDS, Words, tokeniser_settings_of, words_of


def read_settings_of(options: Options) -> ReadSettings:
    """Return the settings of reading."""
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


def learner_settings_of(options: Options, words: Words = NO_WORDS) -> LearnerSettings:
    """Return the settings of the learner; files of words are read here."""
    found = options_of_choice(LEARNER)
    given = options.given(item.name for item in found)
    # Before a file is read that does not belong here.
    check_placed(LEARNER, given)
    files = {option.name: option.file for option in found if option.file and option.name in given}
    read = {name: words_of(name, given[name], kind, options) for name, kind in files.items()}
    listed = {item.name: words[item.name] for item in found if item.name in words}
    return compose(LEARNER, {**given, **read, **listed})


def learn_options_of(options: Options, words: Words = NO_WORDS) -> LearnOptions:
    """Return the checked options of learning."""
    settings = learner_settings_of(options, words)
    tokeniser, parse = tokeniser_settings_of(options, words), read_settings_of(options).parse
    fields, where = parse.fields, settings_of(options, StoreSettings)
    if tokeniser.has_keys and fields.key is not None:
        allowed = "nothing with --key_from, which takes the keys from the texts"
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
        store=where.root,
        run=settings_of(options, RunSettings),
        keep=options.get("keep"),
        id_from=parse.id_from,
        trust=where.trust,
    )


def inference_settings_of(options: Options) -> InferenceSettings:
    """Return the settings of the inference method that ``--method`` names."""
    return compose(METHOD, options.given(item.name for item in options_of_choice(METHOD)))
