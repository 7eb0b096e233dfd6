"""``--source=pubsub``: read a Pub/Sub subscription of JSON objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from model.options import option
from model.settings import TokeniserSettings
from pipelines.cli.groups import Options
from pipelines.cli.settings_from_options import read_settings_of
from pipelines.graphs.sources.base import SOURCES, SourceSettings, max_future

if TYPE_CHECKING:
    from model.document_blocks import Blocks
    from transforms.sources.pubsub import ReadPubSub


@SOURCES.register
@dataclass(frozen=True)
class PubSub(SourceSettings):
    """A Pub/Sub subscription of JSON objects, as a stream."""

    kind = "pubsub"
    shared = ("timestamp_format",)
    needed: ClassVar[Mapping[str, str]] = {
        "pubsub_subscription": "projects/me/subscriptions/documents"
    }
    endless = "always"
    runner = "DataflowRunner"

    pubsub_subscription: str | None = option(None, "projects/PROJECT/subscriptions/NAME")
    pubsub_timestamp_attribute: str | None = option(
        None, "the attribute with the event time of a message"
    )
    max_future: int = max_future()

    def read(
        self, options: Options, tokeniser: TokeniserSettings, blocks: Blocks | None
    ) -> ReadPubSub:
        # Imported here, because --help needs no Beam.
        from transforms.sources.pubsub import ReadPubSub

        return ReadPubSub(
            self.pubsub_subscription or "",
            self.pubsub_timestamp_attribute,
            read_settings_of(options).parse,
            tokeniser,
            max_future=self.max_future,
        )
