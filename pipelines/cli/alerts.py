"""``--alerts=FILE``: rules of alarms, from a YAML file.

    refunds:
      words: [refund, chargeback]
      groups: [north, south]
      false_alarms: 1
      again_after: 7d
      to: https://alarms.example/topics
    outages:
      topics: [7, Outages]
      tells: silence
    subjects:
      tells: birth
      to: https://hooks.slack.com

:class:`beam_topics.model.reporting.alarms.Rule` has the fields of a rule. The tokeniser of the run
cuts each word, because documents have the words that it returns. A rule states one of
``false_alarms`` and ``false_discoveries``, or both; the one that it leaves out does not hold. One
that states neither has the limits of a run without a file. A rule that tells what versions note
sends all events of this kind.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from beam_topics.model.errors import OptionError, did_you_mean
from beam_topics.model.files import read_text
from beam_topics.model.publishing.events import BURST, NOTED, SILENCE
from beam_topics.model.reporting.alarms import Rule
from beam_topics.model.reporting.webhook import secret_of
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.option_files import mapping_of, one_word, tokeniser_settings_of
from beam_topics.pipelines.cli.options import EventSettings, kafka_topic
from beam_topics.pipelines.cli.settings_from_options import read_settings_of
from beam_topics.pipelines.cli.values import DURATION, check_webhook, duration, is_webhook

OPTION = "--alerts"
# All groups and words of all rules; each has a state for each model key.
MOST_WATCHES = 1000
_KINDS = BURST, SILENCE, *NOTED
_FILE = "a YAML file that maps names of rules to what they watch, as in: refunds: {words: [refund]}"


class _Field(NamedTuple):
    """How the text of a field becomes its value; a ValueError says that it is not allowed."""

    read: Callable[[Any], Any]
    allowed: str


def _texts(value: Any) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    texts = isinstance(listed, list) and all(isinstance(one, str) and one for one in listed)
    if not texts or not listed:
        raise ValueError
    return tuple(dict.fromkeys(listed))


def _number(most: float) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        number = float(value) if isinstance(value, str) else math.nan
        if not 0 < number <= most:
            raise ValueError
        return number

    return read


def _time(value: Any) -> int:
    try:
        return duration(value if isinstance(value, str) else "")
    except argparse.ArgumentTypeError as error:
        raise ValueError from error


def _kind(value: Any) -> str:
    if value not in _KINDS:
        raise ValueError
    return str(value)


def _place(value: Any) -> str:
    if not isinstance(value, str) or not (kafka_topic(value) or is_webhook(value)):
        raise ValueError
    return value


_FIELDS: Mapping[str, _Field] = {
    "topics": _Field(_texts, "ids of topics and names of the catalogue, as in: [7, Outages]"),
    "groups": _Field(_texts, "groups of documents, as in: [north, south]"),
    "words": _Field(_texts, "words, as in: [refund, chargeback]"),
    "false_discoveries": _Field(_number(1), "a rate above 0, at most 1"),
    "false_alarms": _Field(_number(100), "alarms in a hundred quiet days, above 0 and at most 100"),
    "tells": _Field(_kind, f"{', '.join(_KINDS[:-1])} or {_KINDS[-1]}"),
    "again_after": _Field(_time, DURATION),
    "to": _Field(_place, "kafka:TOPIC or https://HOST/PATH"),
}


def rules_of(options: Options) -> tuple[Rule, ...]:
    """Return the rules of ``--alerts``; without a file, the one that watches all topics.

    Raises:
        OptionError: The file cannot be used.
    """
    if (path := options.get("alerts")) is None:
        return (Rule(),)
    found = mapping_of(read_text(OPTION, path, _FILE), OPTION, path, _FILE)
    if not found or "" in found:
        raise OptionError(OPTION, path, _FILE, "Name at least one rule, and each of them.")
    rules = tuple(_rule(f"{OPTION}={path}: {name}", name, found[name], options) for name in found)
    watches = sum(1 for rule in rules for _ in rule.watches())
    if watches > MOST_WATCHES:
        allowed = f"at most {MOST_WATCHES:,} groups times words of all rules"
        raise OptionError(OPTION, path, allowed, f"It has {watches:,}. Watch fewer.")
    return rules


def _rule(place: str, name: str, given: Any, options: Options) -> Rule:
    # YAML has "" for a rule without fields.
    if not isinstance(given := given or {}, dict):
        raise OptionError(place, given, f"fields: {', '.join(_FIELDS)}", "Correct the file.")
    values = {field: _value(place, field, value) for field, value in given.items()}
    if "words" in values and "topics" in values:
        allowed, remedy = "nothing else with topics", "Write a rule of its own for the words."
        raise OptionError(f"{place}.words", given["words"], allowed, remedy)
    _check_kind(place, values)
    if "groups" in values and read_settings_of(options).parse.fields.group is None:
        allowed, remedy = "nothing without --group_field", "Name the field, for example region."
        raise OptionError(f"{place}.groups", given["groups"], allowed, remedy)
    if is_webhook(values.get("to")):
        check_webhook(f"{place}.to", values["to"])
        secret_of(f"{place}.to", values["to"])
    if "to" not in values and settings_of(options, EventSettings).events is None:
        remedy = "Add it to the rule, or give --events for all rules without it."
        raise OptionError(f"{place}.to", None, _FIELDS["to"].allowed, remedy)
    if words := values.get("words"):
        # Imported here, because most runs watch no words.
        from beam_topics.model.words.tokeniser import Tokeniser

        cut = Tokeniser(tokeniser_settings_of(options))
        values["words"] = tuple(sorted({one_word(f"{place}.words", one, cut) for one in words}))
    # A bound that is left out while the other is given does not apply.
    if "false_alarms" in values:
        values.setdefault("false_discoveries", 1.0)
    elif "false_discoveries" in values:
        values["false_alarms"] = math.inf
    return Rule(name, **values)


def _check_kind(place: str, values: Mapping[str, Any]) -> None:
    """Refuse fields that have no meaning with what a rule tells."""
    kind = values.get("tells", BURST)
    if "words" in values and kind == SILENCE:
        # A window without a word has no row.
        allowed, remedy = f"{BURST} with words", "Watch topics for silences."
        raise OptionError(f"{place}.tells", kind, allowed, remedy)
    if kind in NOTED and (others := [*{*values} - {"tells", "to"}]):
        allowed, remedy = f"nothing with tells: {kind}", "It tells all events of this kind."
        raise OptionError(f"{place}.{min(others)}", values[min(others)], allowed, remedy)
    if kind in NOTED and "to" not in values:
        remedy = f"--events has every {kind}. Name another place for those of this rule."
        raise OptionError(f"{place}.to", None, _FIELDS["to"].allowed, remedy)


def _value(place: str, field: str, value: Any) -> Any:
    if field not in _FIELDS:
        remedy = did_you_mean(field, _FIELDS, "Leave it out.")
        raise OptionError(place, field, f"fields: {', '.join(_FIELDS)}", remedy)
    try:
        return _FIELDS[field].read(value)
    except ValueError as error:
        allowed = _FIELDS[field].allowed
        raise OptionError(f"{place}.{field}", value, allowed, "Correct the file.") from error
