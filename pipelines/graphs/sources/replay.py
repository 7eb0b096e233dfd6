"""An archive as a source that streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from beam_topics.model.settings.options import option
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.options import InputSettings
from beam_topics.pipelines.cli.settings_from_options import read_settings_of
from beam_topics.pipelines.graphs.sources.base import SOURCES, SourceSettings

if TYPE_CHECKING:
    from beam_topics.transforms.sources.replay import ReplayArchive


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

    def read(self, options: Options, tokeniser: TokeniserSettings) -> ReplayArchive:
        from beam_topics.transforms.sources.replay import ReplayArchive, archive_of

        patterns = list(settings_of(options, InputSettings).input)
        settings = read_settings_of(options)
        replay = ReplayArchive(patterns, settings, tokeniser, self.replay_speed)
        # Check now that the files are an archive.
        archive_of(b"", patterns, settings)
        return replay
