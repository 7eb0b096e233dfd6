import argparse

import pytest

from beam_topics.model.publishing.settings import DAY, Keep, Rule
from beam_topics.pipelines.cli.values import keep


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("versions:all", Keep()),
        ("versions:30d", Keep((Rule(0, 30 * DAY),))),
        (
            "versions:1d,1d/30d,30d/all,checkpoints:3",
            Keep((Rule(0, DAY), Rule(DAY, 30 * DAY), Rule(30 * DAY, None)), 3),
        ),
        ("checkpoints:2", Keep(checkpoints=2)),
        ("grace:2d,versions:1w", Keep((Rule(0, 7 * DAY),), 0, 2 * DAY)),
        ("versions:1d,grace:0", Keep((Rule(0, DAY),), 0, 0)),
    ],
)
def test_values(text, found):
    assert keep(text) == found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("30d", r"'30d' was given \('30d' is not understood\); allowed is parts with commas"),
        ("version:30d", r"\(version: is unknown\)"),
        ("versions:30", r"'30' was given; allowed is a length of time"),
        ("versions:1d,versions:2d", r"\(versions: is there twice\)"),
        ("checkpoints:0", r"'0' was given"),
        ("checkpoints:1,2", r"'2' is not understood"),
        ("grace:", "was given"),
        ("", "is not understood"),
    ],
)
def test_wrong_values_are_refused_with_what_is_allowed(text, told):
    with pytest.raises(argparse.ArgumentTypeError, match=told):
        keep(text)
