"""``--alerts``: what a file of rules may say, and what is said of a wrong one."""

import math

import pytest
from given import given_by

from beam_topics.model.errors import OptionError
from beam_topics.model.reporting.alarms import Rule
from beam_topics.model.reporting.course import DAY, FALSE_SHARE, LEVEL
from beam_topics.pipelines.cli import alerts
from beam_topics.pipelines.cli.alerts import rules_of

GIVEN = ("--model_store=m", "--trends=t", "--events=e", "--group_field=region")


def rules(tmp_path, text, *given):
    (tmp_path / "a.yaml").write_text(text)
    return rules_of(given_by(f"--alerts={tmp_path / 'a.yaml'}", *(given or GIVEN)))


def test_without_a_file_all_topics_are_watched():
    assert rules_of(given_by(*GIVEN)) == (Rule(),)
    assert (Rule().level(DAY), Rule().level(DAY // 24)) == (LEVEL, LEVEL)


def test_rules_say_what_is_watched_how_strictly_and_where_alarms_go(tmp_path):
    first, second, third, fourth = rules(
        tmp_path,
        """
        refunds:
          words: [Refund, chargeback, refund]
          groups: north
          false_alarms: 2
          again_after: 7d
          to: kafka:alarms
        outages: {topics: [7, Power out], false_discoveries: 0.05, to: "http://localhost:1/x"}
        both: {false_discoveries: .05, false_alarms: 1, tells: silence}
        all:
        """,
    )
    assert first == Rule(
        "refunds",
        groups=("north",),
        words=("chargeback", "refund"),
        false_discoveries=1.0,
        false_alarms=2.0,
        again_after=7 * DAY,
        to="kafka:alarms",
    )
    assert (first.level(DAY), first.level(DAY // 4)) == (0.02, 0.005)
    assert second == Rule(
        "outages", ("7", "Power out"), (), (), 0.05, math.inf, to="http://localhost:1/x"
    )
    assert third == Rule("both", false_discoveries=0.05, false_alarms=1.0, tells="silence")
    assert fourth == Rule("all") and fourth.false_discoveries == FALSE_SHARE


FIELDS = "topics, groups, words, false_discoveries, false_alarms, tells, again_after, to"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"a\.yaml' was given; allowed is a YAML file that maps names .* Correct the file"),
        ("{}", r"a\.yaml' was given; .* Name at least one rule"),
        ("'': {}", "Name at least one rule, and each of them"),
        ("- a", "Correct the file"),
        ("a: [", "It is not YAML"),
        ("a: {}\na: {}", "Line 2: 'a' is there twice"),
        ("a: topics", f"a: 'topics' was given; allowed is fields: {FIELDS}. Correct the file"),
        ("a: {word: x}", f"a: 'word' was given; allowed is fields: {FIELDS}. Did you mean words"),
        ("a: {z: 3}", "a: 'z' was given; .* Leave it out"),
        ("a: {topics: []}", r"a.topics: \[\] was given; allowed is ids of topics and names"),
        ("a: {topics: {b: c}}", "a.topics: .* was given; allowed is ids"),
        ("a: {topics: [[b]]}", "a.topics: .* Correct the file"),
        ("a: {words: the}", "a.words: 'the' was given; .* returns as one word. It returns nothing"),
        ("a: {words: York city}", "a.words: 'York city' .* It returns 'york' and 'city'"),
        ("a: {words: x^2}", "a.words: .* as one word"),
        ("a: {words: sea, topics: 1}", "a.words: 'sea' was given; allowed is nothing else with to"),
        ("a: {false_alarms: 0}", "a.false_alarms: '0' was given; allowed is alarms in a hundred"),
        ("a: {false_alarms: 101}", "a.false_alarms: '101' .* above 0 and at most 100. Correct"),
        ("a: {false_alarms: nan}", "a.false_alarms: 'nan' was"),
        ("a: {false_alarms: [1]}", r"a.false_alarms: \['1'\] was"),
        ("a: {false_discoveries: 1.1}", "a.false_discoveries: '1.1' .* a rate above 0, at most 1"),
        (
            "a: {tells: births}",
            "a.tells: 'births' was given; allowed is burst, silence, birth, death, words",
        ),
        ("a: {words: sea, tells: silence}", "a.tells: 'silence' .* is burst with words. Watch top"),
        ("a: {tells: birth, topics: 1}", r"a.topics: \('1',\) .* is nothing with tells: birth. It"),
        ("a: {tells: flood}", "a.to: None .* --events has every flood. Name another place for"),
        ("a: {again_after: 7}", "a.again_after: '7' was given; allowed is a length of time"),
        ("a: {again_after: [7d]}", "a.again_after: .* allowed is a length of time"),
        ("a: {to: alarms}", "a.to: 'alarms' was given; allowed is kafka:TOPIC or https"),
        ("a: {to: 'kafka:'}", "a.to: 'kafka:' was given; allowed is kafka:TOPIC or https"),
        ("a: {to: 'http://far.example/x'}", "a.to: 'http://far.example/.* allowed is https://"),
    ],
)
def test_what_is_wrong_is_said_with_file_field_and_remedy(tmp_path, text, message):
    with pytest.raises(OptionError, match=f"^--alerts.*{message}"):
        rules(tmp_path, text)


def test_what_a_rule_needs_beside_it(tmp_path):
    with pytest.raises(OptionError, match=r"b.groups: 'x' .* nothing without --group_field. Name"):
        rules(tmp_path, "b: {groups: x}", "--model_store=m", "--trends=t", "--events=e")
    with pytest.raises(OptionError, match=r"b.to: None .* Add it to the rule, or give --events"):
        rules(tmp_path, "b: {topics: 1}", "--model_store=m", "--trends=t")
    assert rules(tmp_path, "b: {to: kafka:x}", "--model_store=m", "--trends=t")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(OptionError, match="^--alerts: .* It cannot be read"):
        rules_of(given_by(f"--alerts={tmp_path / 'none.yaml'}", *GIVEN))


def test_what_is_watched_has_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(alerts, "MOST_WATCHES", 3)
    with pytest.raises(OptionError, match=r"at most 3 groups times words .* It has 4. Watch fewer"):
        rules(tmp_path, "a: {words: [sea, ship], groups: [x, y]}")
