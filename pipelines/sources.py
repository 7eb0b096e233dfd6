"""``--source``: where the documents come from, and which options go with which source.

| ``--source`` | reads | options of its own |
|---|---|---|
| ``files`` | files, in any order, all before the end | ``--input``, ``--format``, ``--time_from`` |
| ``replay`` | an archive, as the stream that it was | ``--input``, ``--replay_speed`` |

An option that belongs to another source than the one that was chosen is refused, because it would be ignored.
"""

from __future__ import annotations

from collections.abc import Callable

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from model.errors import OptionError
from model.settings import TokeniserSettings
from pipelines.checked import read_settings_of
from pipelines.command import UsageError
from pipelines.options import InputOptions, SourceOptions
from transforms.read import Documents, ReadDocuments, check_patterns
from transforms.replay import ReplayArchive, archive_of

# Options of the sources, with their values where they are not given.
_OWN: dict[str, dict[str, object]] = {
    "files": {"input": None, "format": "auto", "time_from": "field"},
    "replay": {"input": None, "replay_speed": None},
}
_NEEDED = {"files": {"input": "'data/*.jsonl.gz'"}, "replay": {"input": "'archive/*.avro'"}}


def read_source(pipeline: beam.Pipeline, options: PipelineOptions, tokeniser: TokeniserSettings) -> Documents:
    """Tokenised documents from ``--source``, and what could not be read.

    Raises:
        UsageError: an option that the source needs is missing.
        OptionError: one is given that it does not have.
    """
    source = options.view_as(SourceOptions).source
    check_source(options, source)
    return pipeline | "Read" >> _SOURCES[source](options, tokeniser)


def check_source(options: PipelineOptions, source: str) -> None:
    """Refuse options of other sources, and a source without what it needs."""
    given = options.get_all_options()
    for name, example in _NEEDED[source].items():
        if not given[name]:
            raise UsageError(f"--{name} is missing. --source={source} needs it, for example --{name}={example}.")
    for name, default in {name: default for own in _OWN.values() for name, default in own.items()}.items():
        if name not in _OWN[source] and given[name] != default:
            with_it = " or ".join(f"--source={other}" for other, own in _OWN.items() if name in own)
            raise OptionError(f"--{name}", given[name], f"nothing with --source={source}", f"Leave it out, or choose {with_it}.")


def files(options: PipelineOptions, tokeniser: TokeniserSettings, patterns: list[str], option: str = "--input") -> ReadDocuments:
    """All of the files that the patterns match; patterns that match nothing are refused now."""
    settings = read_settings_of(options)
    check_patterns(patterns, settings, option)
    return ReadDocuments(patterns, settings, tokeniser)


def _files(options: PipelineOptions, tokeniser: TokeniserSettings) -> beam.PTransform:
    return files(options, tokeniser, options.view_as(InputOptions).input)


def _replay(options: PipelineOptions, tokeniser: TokeniserSettings) -> beam.PTransform:
    patterns, settings = options.view_as(InputOptions).input, read_settings_of(options)
    replay = ReplayArchive(patterns, settings, tokeniser, options.view_as(SourceOptions).replay_speed)
    archive_of(b"", patterns, settings)
    return replay


_SOURCES: dict[str, Callable[[PipelineOptions, TokeniserSettings], beam.PTransform]] = {"files": _files, "replay": _replay}
