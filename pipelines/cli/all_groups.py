"""All groups of options, of all programs."""

from __future__ import annotations

from pipelines.cli import options
from pipelines.cli.groups import OptionGroup
from pipelines.graphs.sinks import SinkOptions
from pipelines.graphs.sources import SourceOptions


def all_groups() -> list[type[OptionGroup]]:
    """Return the groups of options of all programs."""
    named = (each for each in vars(options).values() if isinstance(each, type))
    found = [each for each in named if issubclass(each, OptionGroup) and each is not OptionGroup]
    return [*found, SourceOptions, SinkOptions]
