"""Options of the pipelines, in groups (:mod:`pipelines.cli.groups`).

A pipeline lists the groups that it has. :mod:`pipelines.cli.command` parses its command line, and
:mod:`pipelines.cli.settings_from_options` makes checked settings of it. The docstring of a group is
its title in the help. No two groups have an option of the same name, because all of them are in one
namespace, but for one that is declared as shared.

:func:`keep` parses the value of ``--keep``: which versions and checkpoints stay in a model store.

>>> keep("versions:1d,1d/30d,30d/all,checkpoints:3").checkpoints
3
>>> keep("versions:30d").rules
(Rule(period=0, age=2592000000000),)
"""

from __future__ import annotations

import argparse

from model.evaluation.settings import EvaluationSettings
from model.inference import METHOD
from model.inference.settings import (
    CacheSettings,
    CoverageSettings,
    FitSettings,
    LabelSettings,
    RetrainSettings,
)
from model.learner_log.options import RunSettings
from model.learners import LEARNER
from model.publishing.settings import Keep, PublishSettings, Rule, StoreSettings, VersionSettings
from model.reading.settings import ReadSettings
from model.settings import SequenceSettings, TokeniserSettings
from pipelines.cli import values
from pipelines.cli.program_settings import (
    ArchiveSettings,
    CoverageFileSettings,
    DemoSettings,
    EvaluationInputSettings,
    EventSettings,
    FigureSettings,
    InputSettings,
    KafkaClientSettings,
    MixtureSettings,
    OutputFileSettings,
    ShowSettings,
    TrainingInputSettings,
    TrendSettings,
)
from pipelines.cli.settings_options import SWITCH, flags, group
from pipelines.cli.values import duration, positive
from pipelines.service.settings import LimitSettings, ServiceSettings

KEEP_HELP = (
    "what stays when others expire: versions:30d keeps those of the last 30 days;"
    " versions:1d,1d/30d,30d/all keeps all of a day, one a day of 30 days, and one in 30 days for"
    " ever; checkpoints:3 keeps three points to continue from; grace:2d keeps what was written or"
    " used up to two days before the newest version (1d where it is absent). Nothing expires"
    " without this option"
)
_ALLOWED = (
    "parts with commas between them: versions:RULE,RULE,..., checkpoints:N and grace:TIME. A rule"
    " is AGE (all versions up to that age), PERIOD/AGE (one of each period), or all or PERIOD/all"
    " (of any age), for example --keep=versions:1d,1d/30d,30d/all,checkpoints:3"
)
_KINDS = ("versions", "checkpoints", "grace")


def keep(text: str) -> Keep:
    """Parse the value of ``--keep``.

    Raises:
        argparse.ArgumentTypeError: the text is not such a value.
    """
    found: dict[str, list[str]] = {}
    kind = ""
    for part in text.split(","):
        name, colon, value = part.partition(":")
        if colon:
            if name not in _KINDS or name in found:
                raise _wrong(text, f"{name}: is {'there twice' if name in found else 'unknown'}")
            kind = name
        if not kind or (kind != "versions" and kind in found):
            raise _wrong(text, f"{part!r} is not understood")
        found.setdefault(kind, []).append(value if colon else part)
    try:
        made = Keep(tuple(_rule(one) for one in found.get("versions", ["all"])))
        for points in found.get("checkpoints", ()):
            made = made._replace(checkpoints=positive(points))
        for time in found.get("grace", ()):
            made = made._replace(grace=_time(time))
    except argparse.ArgumentTypeError as error:
        raise _wrong(text, str(error)) from error
    return made


def _rule(text: str) -> Rule:
    period, slash, age = text.rpartition("/")
    return Rule(duration(period) if slash else 0, None if age == "all" else duration(age))


def _time(text: str) -> int:
    """Parse a time of grace, which may be nothing."""
    return 0 if text == "0" else duration(text)


def _wrong(text: str, what: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"{text!r} was given ({what}); allowed is {_ALLOWED}.")


# Options that name what workers write, through Beam's file systems. The model store has file
# systems of its own.
OUTPUTS = ("archive", "output", "dead_letters", "coverage", "trends", "events", "json")


TokeniserOptions = group("Words", TokeniserSettings)
SequenceOptions = group("Minibatches", SequenceSettings)
LearnerOptions = group("Learner", choice=LEARNER)
StoreOptions = group("Model store", StoreSettings)
TrainingOptions = group("Running", RunSettings, PublishSettings, EventSettings)
ServiceOptions = group("Service", ServiceSettings)
LimitOptions = group("Limits of requests", LimitSettings)
ModelVersionOptions = group("Which model", VersionSettings)
StreamOptions = group("Labelling", LabelSettings)
OutputOptions = group("Output", MixtureSettings, TrendSettings)
FigureOptions = group("Figures", FigureSettings)
EvaluationOptions = group("Evaluation", EvaluationInputSettings, EvaluationSettings)
ShowOptions = group("Display", ShowSettings)
DemoOptions = group("Demo", DemoSettings)
ArchiveOptions = group("Archive", ArchiveSettings)
InputOptions = group("Input", InputSettings)
KafkaOptions = group("Kafka", KafkaClientSettings)
RecordOptions = group("Records", ReadSettings, OutputFileSettings)
TrainingDocumentsOptions = group("Training documents", TrainingInputSettings)
ModelCacheOptions = group("Models in memory", CacheSettings)
CoverageOptions = group("Coverage", CoverageFileSettings, CoverageSettings)
RetrainOptions = group("Retraining", RetrainSettings)
FitOptions = group("Classifier", FitSettings)


KeepOptions = flags("Expiry", keep={"type": keep, "metavar": "RULES", "help": KEEP_HELP})
BaseVersionOptions = flags(
    "Comparison",
    base_version={"help": "version to compare with (where it is absent: the parent)"},
)
MethodOptions = group("Method", only=METHOD)
InferenceOptions = group("Inference", within=METHOD)
LabelledOptions = flags(
    "Labelled documents",
    mixtures={
        "type": values.patterns,
        "help": "mixtures that infer or stream wrote: folders, paths or globs, with commas",
    },
    documents={
        "type": values.patterns,
        "help": "files of the documents, for their texts: paths or globs, with commas",
    },
)
ReportOptions = flags(
    "Report",
    title={"default": "Topics", "help": "title of the page"},
    input_profile={"help": "file of look --json about what was learned, for the page"},
    follow={
        "type": values.duration,
        "nargs": "?",
        "const": "10s",
        "help": "write the page anew for each new version; how often to look for one",
    },
)
ExportOptions = flags(
    "Content",
    words_per_topic={
        "type": values.positive,
        "help": "csv, parquet and json: words of each topic; without it, all with a count",
    },
    freeze={
        "type": values.topics,
        "default": (),
        "help": "seeds: ids of topics, with commas; without it, all",
    },
)
TextOptions = flags(
    "Text",
    text={"action": "append", "help": "a text; without it, standard input"},
    most_topics={
        "type": values.positive,
        "default": 3,
        "help": "topics of each text (default: 3)",
    },
)
TopicOptions = flags(
    "Topics",
    topic_ids={
        "type": values.topics,
        "default": (),
        "help": "the numbers of topics, with commas",
    },
)
CatalogueOptions = flags(
    "Catalogue",
    topic_name={"help": "name of these topics; empty: by their words"},
    topic_note={"help": "note on these topics"},
    topic_colour={"help": "colour of these topics, #rrggbb; empty: none"},
    hide={**SWITCH, "help": "leave these topics out of lists; false shows them again"},
    pin={**SWITCH, "help": "put these topics first in lists; false undoes it"},
    merge_into={
        "type": values.whole,
        "help": "show these topics as parts of another; its own number takes a topic apart again",
    },
    name_topics={
        **SWITCH,
        "help": "name all topics that nobody named, by --documents with --mixtures",
    },
    namer={"help": "module:function of yours that names a topic (model/reporting/names.py)"},
    roll_back={"help": "make an earlier catalogue the newest one: the digits it begins with"},
)
TrendFileOptions = flags(
    "Trends",
    rows={
        "type": values.patterns,
        "help": "trends that infer or stream wrote: folders, paths or globs, with commas",
    },
    trends_group={"help": "only the rows of this group; without it, all are added up"},
)
