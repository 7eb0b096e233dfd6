"""``--source=replay``: read an archive of ``pipelines.archive`` as a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from model.options import option
from model.settings import TokeniserSettings
from pipelines.cli.groups import Options
from pipelines.cli.program_settings import InputSettings
from pipelines.cli.settings_from_options import read_settings_of
from pipelines.cli.settings_options import settings_of
from pipelines.graphs.sources.base import SOURCES, SourceSettings

if TYPE_CHECKING:
    from model.document_blocks import Blocks
    from transforms.sources.replay import ReplayArchive


@SOURCES.register
@dataclass(frozen=True)
class Replay(SourceSettings):
    """An archive of pipelines.archive, in the order of time, as a stream."""

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
        self, options: Options, tokeniser: TokeniserSettings, blocks: Blocks | None
    ) -> ReplayArchive:
        # Imported here, because --help needs no Beam.
        from transforms.sources.replay import ReplayArchive, archive_of

        patterns = list(settings_of(options, InputSettings).input)
        settings = read_settings_of(options)
        replay = ReplayArchive(patterns, settings, tokeniser, self.replay_speed, blocks=blocks)
        # Check now that the files are an archive.
        archive_of(b"", patterns, settings)
        return replay
