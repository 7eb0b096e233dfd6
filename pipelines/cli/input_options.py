"""Options of the input: files, Kafka, and the fields of a record.

The groups are of the form that :mod:`pipelines.cli.options` describes. The options of each source
are with the source, in :mod:`pipelines.graphs.sources`.
"""

from __future__ import annotations

from model.reading.settings import ReadSettings
from pipelines.cli.groups import OptionGroup
from pipelines.cli.program_settings import InputSettings, KafkaClientSettings, OutputFileSettings
from pipelines.cli.settings_options import declares


@declares(InputSettings)
class InputOptions(OptionGroup):
    """Input."""


@declares(KafkaClientSettings)
class KafkaOptions(OptionGroup):
    """Kafka."""


@declares(ReadSettings, OutputFileSettings)
class RecordOptions(OptionGroup):
    """Records."""
