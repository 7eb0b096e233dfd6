"""Read JSON objects from a Pub/Sub subscription as tokenised documents and dead letters.

Beam's own connector reads them, so this works only on runners that support Pub/Sub. The local
runner does not. The watermark is that of Pub/Sub, from the publishing times of the messages or from
the attribute that is given. The time of a document is in its JSON. A document whose own time is
behind the watermark is late and joins the window that is open.
"""

from __future__ import annotations

from typing import Any

import apache_beam as beam

from model.errors import OptionError
from model.reading.settings import ParseSettings
from model.settings import TokeniserSettings
from transforms.read import Documents, ParseMessages


class ReadPubSub(beam.PTransform):
    """Read a Pub/Sub subscription; gives :class:`transforms.read.Documents`.

    Args:
        subscription: ``projects/<project>/subscriptions/<name>``.
        timestamp_attribute: The attribute of the messages that holds their time, or None.
        settings: How messages are parsed.
        tokeniser: The settings of the tokeniser.
        max_future: As of :class:`transforms.read.ParseMessages`, against the time of publishing or
            the time in the attribute.

    Raises:
        OptionError: The name of the subscription has another form, or the extra ``gcp`` is not
            installed.
    """

    def __init__(
        self,
        subscription: str,
        timestamp_attribute: str | None,
        settings: ParseSettings,
        tokeniser: TokeniserSettings,
        *,
        max_future: int | None = None,
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
        self._parse = ParseMessages(subscription, settings, tokeniser, max_future)

    def expand(self, pipeline: Any) -> Documents:
        return pipeline | "Messages" >> self._source | "Documents" >> self._parse
