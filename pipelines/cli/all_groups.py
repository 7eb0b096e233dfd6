"""All groups of options, of all programs."""

from __future__ import annotations

from pipelines.cli import inference_options, input_options, options
from pipelines.cli.groups import OptionGroup
from pipelines.graphs.sinks import SinkOptions
from pipelines.graphs.sources import SourceOptions


def all_groups() -> list[type[OptionGroup]]:
    """Return the groups of options of all programs."""
    modules = (options, input_options, inference_options)
    found = [
        group
        for module in modules
        for group in vars(module).values()
        if isinstance(group, type)
        and issubclass(group, OptionGroup)
        and group.__module__ == module.__name__
    ]
    return [*found, SourceOptions, SinkOptions]
