"""Write a page about the topics of a model store, as one HTML file.

``beam-topics report --model_store=models --mixtures=mixtures
--output=report.html``

The page loads nothing from elsewhere. ``--documents`` adds the texts of the documents that it
shows, ``--rows`` the stories of the last window, and ``--dead_letters`` counts the records that
could not be used.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from beam_topics.model.settings.options import Record, option
from beam_topics.pipelines.cli import options as group
from beam_topics.pipelines.cli.command import command, later
from beam_topics.pipelines.cli.groups import OptionGroup


# The options of all programs have one namespace, in which --output belongs to the sinks.
# SinkOptions reads it.
@dataclass(frozen=True)
class _PageSettings(Record):
    """Where the page goes."""

    output: str | None = option(None, "file for the page, for example report.html")


GROUPS = (
    group.StoreOptions,
    group.ModelVersionOptions,
    group.LabelledOptions,
    group.RowOptions,
    group.ReportOptions,
    OptionGroup("Output", _PageSettings),
    group.RecordOptions,
)
REQUIRED = {"model_store": "models", "output": "report.html"}


main = command("report", __doc__, GROUPS, REQUIRED, later("report.report"))

if __name__ == "__main__":
    sys.exit(main())
