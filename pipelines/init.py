"""Ask four questions about the documents, and write a file of options for --config.

``python -m pipelines.init --output=beam-topics.yaml``

The questions: where the documents are, which fields they have, whether they are learned once or
come as a stream, and how often a version is published. An option answers its question, so with all
of them the program asks nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from model.errors import OptionError
from model.reading.fields import guess, sample_records
from model.reading.settings import ReadSettings
from pipelines.cli import guessing, places
from pipelines.cli.arguments import names_of
from pipelines.cli.command import command
from pipelines.cli.groups import OptionGroup
from pipelines.cli.input_options import InputOptions, RecordOptions
from pipelines.cli.invocation import shown
from pipelines.cli.options import KindOptions
from pipelines.cli.program_settings import InputSettings
from pipelines.cli.settings_options import settings_of
from pipelines.cli.shared_options import UsageError
from pipelines.cli.values import duration, publication

_KAFKA = "kafka://"
_RECORDS = 200
_DEFAULTS = {"text_field": "text", "timestamp_field": "timestamp", "id_field": "id"}
# What an answer says in place of a field: times are the order of records, ids are their places.
_ORDER, _PLACE = "none", "none"
# Fields that are asked for, what they hold, and the option that does without them.
_QUESTIONS = (
    ("text_field", "text", ""),
    ("timestamp_field", "time", "time_from"),
    ("id_field", "id", "id_from"),
)


class _InitOptions(OptionGroup):
    """File."""

    @classmethod
    def _add_argparse_args(cls, parser: argparse._ActionsContainer) -> None:
        parser.add_argument(
            "--publish_every", type=publication, help="how often to publish, for example 30d"
        )
        parser.add_argument(
            "--output", default="beam-topics.yaml", help="the file (default: beam-topics.yaml)"
        )


GROUPS = (InputOptions, KindOptions, _InitOptions, RecordOptions)


def init(options: OptionGroup) -> None:
    """Ask, and write the file.

    Raises:
        OptionError: the file exists, or a value cannot be used.
        UsageError: standard input ended before a question was answered.
    """
    wanted = options.view_as(_InitOptions)
    path = Path(wanted.output)
    if path.exists():
        raise OptionError(
            "--output", str(path), "a file that is new", "Remove it, or name another."
        )
    given = _given(options)
    where = given.get("input") or ask("input", "Where are the documents (a path, a glob, or"
                                      " kafka://host:port/topic)?")  # fmt: skip
    answers = _source(where)
    fields, lengths = _fields(where, options, given)
    kind = given.get("kind") or ("stream" if where.startswith(_KAFKA) else "")
    kind = kind or ask("kind", "Learned once, or a stream?", *KindOptions.KINDS)
    every = given.get("publish_every") or ask(
        "publish_every", "How often is a version published?", lengths.get("publish_every", "1d")
    )
    answers |= fields | _lengths(every, lengths) | _folders(where, kind)
    program = "stream" if kind == "stream" else "train"
    run = f"{shown(f'pipelines.{program}')} --config={path}"
    path.write_text(places.as_yaml(answers, f"Run: {run}"), encoding="utf-8")
    print(f"{path} is written. Run: {run}")


def ask(name: str, question: str, *choices: str) -> str:
    """Return the answer to a question on standard input; the first choice is the default.

    Raises:
        UsageError: standard input ended, or the answer is not a choice where there are several.
    """
    hint = (
        f" [{choices[0]}{' or ' * bool(choices[1:])}{' or '.join(choices[1:])}]" if choices else ""
    )
    print(f"{question}{hint} ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise UsageError(f"--{name} is missing: standard input ended. Give the option.")
    answer = line.strip() or (choices[0] if choices else "")
    if not answer:
        raise UsageError(f"--{name} is missing: the answer was empty. Give the option.")
    if choices[1:] and answer not in choices:
        raise OptionError(f"--{name}", answer, f"one of {', '.join(choices)}", "Answer with one.")
    return answer


def _given(options: OptionGroup) -> dict[str, str]:
    """Return the options of the command line by name, as they were written."""
    own = names_of(GROUPS)
    pairs = (one.removeprefix("--").partition("=") for one in options._flags)
    return {name: value for name, _, value in pairs if name in own and value}


def _source(where: str) -> dict[str, str]:
    if not where.startswith(_KAFKA):
        return {"input": where}
    servers, _, topic = where.removeprefix(_KAFKA).partition("/")
    if not servers or not topic:
        raise OptionError("--input", where, "kafka://host:port/topic", "Add what is missing.")
    return {"source": "kafka", "kafka_servers": servers, "kafka_topic": topic}


def _fields(
    where: str, options: OptionGroup, given: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the options of the fields, and the lengths of time that fit the documents."""
    settings = settings_of(options, ReadSettings)
    files = [] if where.startswith(_KAFKA) else guessing.files_of(
        settings_of(options, InputSettings).input or where.split(",")
    )  # fmt: skip
    seen: dict[str, str] = dict(_DEFAULTS)
    told: dict[str, str] = {name: given[name] for name in places.READING if name in given}
    if files:
        with Path(files[0]).open("rb") as stream:
            found = guess(
                sample_records(stream, files[0], settings, _RECORDS), settings.parse.fields
            )
        seen |= {name: value for name, value in found.options.items() if name in _DEFAULTS}
        seen |= {"timestamp_field": _ORDER} if "time_from" in found.options else {}
        seen |= {"id_field": _PLACE} if "id_from" in found.options else {}
        if "timestamp_format" in found.options:
            told.setdefault("timestamp_format", found.options["timestamp_format"])
    for name, what, other in _QUESTIONS:
        if name not in told and other not in told:
            told[name] = ask(name, f"Which field has the {what}?", seen[name])
    told = _without_none(told)
    lengths, _ = (
        guessing.guess_lengths(files, guessing.with_fields(settings, told)) if files else ({}, "")
    )
    return told, lengths


def _without_none(told: dict[str, str]) -> dict[str, str]:
    """Return the options of fields where ``none`` stands for the order, or for the place."""
    found = dict(told)
    if found.get("timestamp_field") == _ORDER:
        del found["timestamp_field"]
        found.pop("timestamp_format", None)
        found["time_from"] = "order"
    if found.get("id_field") == _PLACE:
        del found["id_field"]
        found["id_from"] = "place"
    return found


def _lengths(every: str, lengths: Mapping[str, str]) -> dict[str, str]:
    """Return the options of time: windows are not longer than the time between two versions."""
    try:
        kind, length = publication(every)
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"--publish_every: {error}") from error
    window = lengths.get("window", "1h")
    if kind == "period" and duration(window) > length:
        window = every
    return {"window": window, "publish_every": every}


def _folders(where: str, kind: str) -> dict[str, str]:
    folder = Path("topics") if where.startswith(_KAFKA) else Path(places.run_folder(where))
    found = {"model_store": str(folder / "models"), "dead_letters": str(folder / "dead")}
    return found | ({"output": str(folder / "mixtures")} if kind == "stream" else {})


main = command("pipelines.init", __doc__.partition("\n")[0], GROUPS, {}, init, graph=False)

if __name__ == "__main__":
    sys.exit(main())
