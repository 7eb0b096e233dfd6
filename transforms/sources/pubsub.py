"""``ReadPubSub``: JSON objects from a Pub/Sub subscription, by Beam's own connector, to tokenised
documents and dead letters.

Only on runners that read Pub/Sub themselves, which the local one does not. The watermark is
Pub/Sub's, from the messages' publishing times or the attribute that is given; a document's own time
is in its JSON. Where the two differ, a document that is earlier than the watermark is late, and
joins the window that is open.
"""

from __future__ import annotations

from typing import Any

import apache_beam as beam

from model.errors import OptionError
from model.reading.parsing import ParseSettings
from model.settings import TokeniserSettings
from transforms.read import Documents, ParseMessages


class ReadPubSub(beam.PTransform):
    """See the module's docstring.

    Args:
        subscription: ``projects/<project>/subscriptions/<name>``. timestamp_attribute: of the
            messages, or None.

    Raises:
        OptionError: the subscription's name is no such, or the extra ``gcp`` is not installed.
    """

    def __init__(
        self,
        subscription: str,
        timestamp_attribute: str | None,
        settings: ParseSettings,
        tokeniser: TokeniserSettings,
    ) -> None:
        super().__init__()
        try:
            self._source = beam.io.ReadFromPubSub(
                subscription=subscription, timestamp_attribute=timestamp_attribute
            )
        except ImportError as error:
            raise OptionError(
                "--source",
                "pubsub",
                "other sources without it",
                "Run: pip install 'beam-topics[gcp]'",
            ) from error
        except ValueError as error:
            allowed = "projects/<project>/subscriptions/<name>"
            raise OptionError("--pubsub_subscription", subscription, allowed, f"{error}") from error
        self._parse = ParseMessages(subscription, settings, tokeniser)

    def expand(self, pipeline: Any) -> Documents:
        return pipeline | "Messages" >> self._source | "Documents" >> self._parse
