"""The contract of sources, and their registry.

A source is a record of settings with the name that ``--source`` gives as its ``kind``. Its fields
are the options that belong to this source alone. :meth:`SourceSettings.read` gives the transform
that reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from model.compositions import Choice
from model.kinds import Kinds
from model.options import Record, option
from model.settings import TokeniserSettings
from pipelines.cli.groups import Options
from pipelines.cli.program_settings import DAY
from pipelines.cli.settings_options import group

if TYPE_CHECKING:
    import apache_beam as beam

    from model.document_blocks import Blocks


class SourceSettings(Record):
    """The base of the settings of all sources.

    Attributes:
        shared: options of other groups that the source reads. Other sources refuse them.
        needed: options that must be given, each with an example.
        is_log: whether the documents come as a stream, with a watermark.
        endless: whether the source goes on for ever: ``never``, ``always``, or ``until`` where it
            ends with ``--until=end`` alone. The local runner reads a source to its end before it
            learns, so it refuses what does not end.
        runner: a runner that can read the source without an end, for messages.
    """

    shared: ClassVar[tuple[str, ...]] = ()
    needed: ClassVar[Mapping[str, str]] = {}
    is_log: ClassVar[bool] = True
    endless: ClassVar[Literal["never", "until", "always"]] = "always"
    runner: ClassVar[str] = "PrismRunner"

    def read(
        self, options: Options, tokeniser: TokeniserSettings, blocks: Blocks | None
    ) -> beam.PTransform:
        """Return the transform that reads the source into :class:`transforms.read.Documents`.

        Args:
            options: the parsed command line.
            tokeniser: the settings of the tokeniser.
            blocks: which documents may share a block (:mod:`model.document_blocks`); None for none.

        Raises:
            OptionError: a value cannot be used.
            SourceError: the source does not exist.
        """
        raise NotImplementedError


def max_future() -> int:
    """Declare the option of the sources whose messages have a time of their own."""
    found: int = option(
        DAY,
        "documents that are later than their messages by more than this become dead letters",
        unit="microseconds",
        least=1,
    )
    return found


SOURCES = Kinds()
SOURCE: Choice[SourceSettings] = Choice(
    "source", "where the documents come from", SOURCES, default="files"
)
SourceOptions = group("Source", choice=SOURCE)


def is_log(source: str | None) -> bool:
    """Return whether a value of ``--source`` names a source whose documents come as a stream."""
    return source in SOURCES and SOURCES[source].is_log  # type: ignore[attr-defined]


def ends(source: str | None, until: str | None) -> bool:
    """Return whether a source ends, by the values of ``--source`` and ``--until``."""
    if source not in SOURCES:
        return True
    endless = SOURCES[source].endless  # type: ignore[attr-defined]
    return endless == "never" or (endless == "until" and until == "end")
