"""Files as a source, at once or replayed, and the reading of files for one model version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from beam_topics.model.reading.settings import ReadSettings
from beam_topics.model.settings.options import option
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import InputSettings
from beam_topics.pipelines.cli.settings_from_options import read_settings_of
from beam_topics.pipelines.graphs.sources.base import SOURCES, SourceSettings

if TYPE_CHECKING:
    import apache_beam as beam

    from beam_topics.model.learner_log.options import LearnOptions
    from beam_topics.model.publishing.manifest import Manifest
    from beam_topics.transforms.read import Documents, ReadDocuments
    from beam_topics.transforms.sources.replay import ReplayArchive


@SOURCES.register
@dataclass(frozen=True)
class Files(SourceSettings):
    """All files of --input, in any order."""

    kind = "files"
    shared = ("input", "format", "encoding", "chats", "time_from", "id_from", "timestamp_format")
    shared += ("records",)
    needed: ClassVar[Mapping[str, str]] = {"input": "'data/*.jsonl.gz'"}
    is_log = False
    endless = "never"

    def read(
        self, options: Options, tokeniser: TokeniserSettings, learning: LearnOptions | None = None
    ) -> ReadDocuments:
        return read_files(options, tokeniser, settings_of(options, InputSettings).input)


@SOURCES.register
@dataclass(frozen=True)
class Replay(SourceSettings):
    """An archive of beam-topics archive, in the order of time, as a stream."""

    kind = "replay"
    shared = ("input",)
    needed: ClassVar[Mapping[str, str]] = {"input": "'archive/*.avro'"}
    endless = "never"

    replay_speed: float | None = option(
        None,
        "event time in relation to real time, for example 3600x; without it, as fast as possible",
        unit="x",
        above=0,
    )

    def read(
        self, options: Options, tokeniser: TokeniserSettings, learning: LearnOptions | None = None
    ) -> ReplayArchive:
        from beam_topics.transforms.sources.replay import ReplayArchive, archive_of

        patterns = list(settings_of(options, InputSettings).input)
        settings = read_settings_of(options)
        replay = ReplayArchive(patterns, settings, tokeniser, self.replay_speed)
        # Check now that the files are an archive.
        archive_of(b"", patterns, settings)
        return replay


def read_files(
    options: Options,
    tokeniser: TokeniserSettings,
    patterns: Sequence[str],
    option: str = "--input",
) -> ReadDocuments:
    """Return the transform that reads all files that the patterns match."""
    from beam_topics.transforms.read import ReadDocuments, check_patterns

    settings = read_settings_of(options)
    check_patterns(list(patterns), settings, option)
    return ReadDocuments(list(patterns), settings, tokeniser)


def files_of_model(
    pipeline: beam.Pipeline,
    options: Options,
    manifest: Manifest,
    patterns: Sequence[str],
    option: str = "--input",
) -> Documents:
    """Read documents for one model version, with its tokeniser.

    Where documents have keys, those of other model keys become dead letters.
    """
    import apache_beam as beam

    from beam_topics.transforms.infer import Route
    from beam_topics.transforms.read import Documents

    tokeniser, name = manifest.tokeniser, option.removeprefix("--")
    read: Documents = pipeline | f"Read {name}" >> read_files(options, tokeniser, patterns, option)
    if settings_of(options, ReadSettings).parse.fields.key is None and not tokeniser.has_keys:
        return read
    routed = read.documents | f"Route {name}" >> Route([manifest.key])
    dead_letters = (
        read.dead_letters,
        routed.dead_letters,
    ) | f"Dead letters of {name}" >> beam.Flatten()
    return Documents(routed.documents, dead_letters)
