"""What all sources share: the base of their settings, and their registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from beam_topics.model.settings.compositions import Choice
from beam_topics.model.settings.options import Kinds, Record
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.pipelines.cli.groups import Options

if TYPE_CHECKING:
    import apache_beam as beam

    from beam_topics.model.learner_log.options import LearnOptions


class SourceSettings(Record):
    """The base of the settings of all sources.

    Attributes:
        shared: options of other groups that the source reads. Other sources refuse them.
        needed: options that must be given, each with an example.
        is_log: whether the documents come as a stream, with a watermark.
        endless: whether the source goes on for ever: ``never``, ``always``, or ``until`` where it
            ends with ``--until=end`` alone. The local runner reads a source to its end before it
            learns, so it refuses what does not end.
    """

    shared: ClassVar[tuple[str, ...]] = ()
    needed: ClassVar[Mapping[str, str]] = {}
    is_log: ClassVar[bool] = True
    endless: ClassVar[Literal["never", "until", "always"]] = "always"

    def read(
        self, options: Options, tokeniser: TokeniserSettings, learning: LearnOptions | None = None
    ) -> beam.PTransform:
        """Return what reads the source into :class:`beam_topics.transforms.read.Documents`.

        Args:
            options: the options of the program.
            tokeniser: how texts are cut.
            learning: how the run learns, and after what; None of one that learns nothing.
        """
        raise NotImplementedError


SOURCES = Kinds()
SOURCE: Choice[SourceSettings] = Choice(
    "source", "where the documents come from", SOURCES, default="files"
)
