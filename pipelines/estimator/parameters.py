"""The parameters of the estimator: the options of the command line, by the same names.

A parameter that is None has the default of its option. Any other value is written as the command
line would write it and parsed by the same parsers, so both have the same values and messages:

>>> learning_of({"topics": 7, "window": "1d"}, "models").sequence.window
86400000000
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from pathlib import PurePath
from typing import Any

from beam_topics.model.errors import OptionError, did_you_mean
from beam_topics.model.inference import METHOD, InferenceSettings
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learners import LEARNER, LearnerSettings
from beam_topics.model.settings.options import Record, options_of, plain_options
from beam_topics.model.words.functions import check_allowed
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import parse
from beam_topics.pipelines.cli.groups import Options, UsageError, names_of, options_of_choice
from beam_topics.pipelines.cli.settings_from_options import inference_settings_of, learn_options_of
from beam_topics.pipelines.cli.values import written

GROUPS = (
    group.TokeniserOptions,
    group.SequenceOptions,
    group.LearnerOptions,
    group.TrainingOptions,
    group.MethodOptions,
    group.InferenceOptions,
)
# partial_fit continues a model, and versions have their events.
_NOT_HERE = ("add_documents", "resume_from", "events", "silent_after", "key_from")
# Parameters that are not options: where the model is kept, and whether progress is shown.
OWN = ("model_store", "verbose")


@cache
def names() -> tuple[str, ...]:
    """Return the names of all parameters."""
    return (*OWN, "trust", *(name for name in names_of(GROUPS) if name not in _NOT_HERE))


def signature() -> inspect.Signature:
    """Return the signature of the estimator's constructor; scikit-learn reads the names from it."""
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in names()
    ]
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return inspect.Signature([own, *named])


def check_names(given: Mapping[str, Any]) -> None:
    """Refuse a parameter that does not exist."""
    for name in given:
        if name == "key_from":
            remedy = "Use beam-topics train --key_from=language."
            raise UsageError(f"key_from: TopicModel learns one model for all documents. {remedy}")
        if name not in names():
            hint = did_you_mean(name, names(), "help(TopicModel) lists them.")
            raise UsageError(f"{name}: TopicModel has no such parameter. {hint}")


def learning_of(parameters: Mapping[str, Any], store: str) -> LearnOptions:
    """Return the checked options of learning.

    Args:
        parameters: by name; None stands for the default.
        store: the root of the model store.
    """
    given = {name: value for name, value in parameters.items() if name not in OWN}
    words = {
        name: tuple(given.pop(name))
        for name in _word_lists()
        if given.get(name) is not None and not isinstance(given[name], (str, PurePath))
    }
    return learn_options_of(_parsed({**given, "model_store": store}), words)


def inference_of(parameters: Mapping[str, Any]) -> InferenceSettings:
    """Return the checked settings of the inference method."""
    own = {item.name for item in options_of_choice(METHOD)}
    return inference_settings_of(
        _parsed({name: value for name, value in parameters.items() if name in own})
    )


def parameters_of(learning: LearnOptions) -> dict[str, Any]:
    """Return the parameters that are needed to learn so; the inverse of :func:`learning_of`.

    Lists of words come as tuples.
    """
    found = {LEARNER.name: learning.settings.kind, **_parts(learning.settings)}
    for record in (learning.tokeniser, learning.sequence):
        found |= _differing(record)
    found["publish_every"] = str(learning.run.publish_every)
    # The default of a part depends on the learner, so each kind is left out where it can be.
    for name in [name for name in found if name in _kinds()]:
        fewer = {other: value for other, value in found.items() if other != name}
        if _learns_alike(fewer, learning):
            found = fewer
    return found


def _learns_alike(parameters: Mapping[str, Any], learning: LearnOptions) -> bool:
    try:
        return learning_of(parameters, "").settings_digest == learning.settings_digest
    except OptionError:
        return False


@cache
def _kinds() -> frozenset[str]:
    """Return the names of the parameters that choose a kind."""
    return frozenset(item.name for item in options_of_choice(LEARNER) if item.kinds is not None)


def _parts(settings: LearnerSettings | Record) -> dict[str, Any]:
    """Return what differs in a record of a composition, with the kinds of its parts."""
    found = _differing(settings)
    for item in options_of(type(settings)):
        if item.kinds is not None:
            part = getattr(settings, item.field)
            found |= {item.name: part.kind, **_parts(part)}
    return found


def _differing(record: Record) -> dict[str, Any]:
    """Return the plain options of a record that do not have their default, as users write them."""
    return {
        item.name: value if item.file else item.shown(value)
        for item in options_of(type(record))
        if item.kinds is None and (value := getattr(record, item.field)) != item.default
    }


@cache
def _word_lists() -> tuple[str, ...]:
    """Return the names of the parameters that take a file of words, or the words."""
    records = group.TokeniserOptions.records
    found = [item for record in records for item in plain_options(record)]
    found += options_of_choice(LEARNER)
    return tuple(dict.fromkeys(item.name for item in found if item.file))


def _parsed(given: Mapping[str, Any]) -> Options:
    check_allowed(given.get("tokeniser", ""))
    # No way at all is written so.
    given = {**given, "strip": "none"} if given.get("strip", "none") in ((), []) else given
    argv = [f"--{name}={written(value)}" for name, value in given.items() if value is not None]
    return parse(argv, "TopicModel", "", (group.StoreOptions, *GROUPS), {}, graph=False)
