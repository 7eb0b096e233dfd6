"""The options of the transforms of Beam YAML: those of the command line, by the same names.

A value is written as the command line would write it and parsed by the same parsers, so both have
the same values and messages.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from model.errors import OptionError
from model.options import plain_options
from model.reading.settings import ParseSettings
from pipelines.cli.command import parse, parser_for
from pipelines.cli.options import (
    CoverageOptions,
    InferenceOptions,
    KeepOptions,
    LearnerOptions,
    MethodOptions,
    ModelCacheOptions,
    ModelVersionOptions,
    RecordOptions,
    SequenceOptions,
    StoreOptions,
    StreamOptions,
    TokeniserOptions,
    TrainingOptions,
)
from pipelines.cli.values import written

_METHOD = (MethodOptions, InferenceOptions, ModelCacheOptions, CoverageOptions)
LEARNING = (TokeniserOptions, SequenceOptions, LearnerOptions, TrainingOptions, KeepOptions)
LABELLING = (ModelVersionOptions, *_METHOD)
STREAMING = (*LEARNING, StreamOptions, *_METHOD)
# The pipeline writes what comes out of the transforms.
_NOT_HERE = ("events", "coverage")


def parsed(name: str, groups: Any, model_store: str, options: Any) -> Any:
    """Return the checked options of a transform.

    Args:
        name: The name of the transform, for messages.
        groups: The groups of its options; those of records are added.
        model_store: The folder of the model store.
        options: Options by name; None for none.

    Raises:
        OptionError: An option does not exist, or has a value that is not allowed.
    """
    given = {} if options is None else options
    if not isinstance(given, Mapping):
        allowed = "a mapping such as {window: 1d, topics: 50}"
        raise OptionError(f"options of {name}", given, allowed, "Write one option a line.")
    known = names(groups)
    for option in given:
        if option not in known:
            near = difflib.get_close_matches(str(option), known, 1, 0.6)
            remedy = f"Did you mean {near[0]}?" if near else "docs/yaml.md says which there are."
            raise OptionError(f"options of {name}", option, "the name of an option", remedy)
    argv = [f"--model_store={model_store}"]
    argv += [f"--{key}={written(value)}" for key, value in given.items() if value is not None]
    return parse(argv, name, "", (StoreOptions, RecordOptions, *groups), {}, graph=False)


def names(groups: Any) -> tuple[str, ...]:
    """Return the names of the options of groups and of records."""
    found = {action.dest for action in parser_for("yaml", "", groups, {})._actions}
    records = {option.name for option in plain_options(ParseSettings)}
    return tuple(sorted((found | records) - {"config", "help", *_NOT_HERE}))
