"""``--namer``: what a function gets, and what it may return."""

import pytest
from made import snapshot_of

from beam_topics.model.errors import OptionError
from beam_topics.model.reporting.names import names_by
from beam_topics.model.words.functions import load

SNAPSHOT = snapshot_of([[9.0, 0.0], [3.0, 0.0], [0.0, 4.0]], ("a", "b", "c"))
NAMES = ["a", "c"]


def test_a_function_gets_the_facts_of_each_topic():
    asked = []

    def namer(facts):
        asked.append(facts)
        return f" Topic {facts['topic']} "

    found = names_by(namer, SNAPSHOT, NAMES, [["a text"], []])
    assert found == ["Topic 0", "Topic 1"]
    assert asked[0] == {
        "topic": 0, "share": 0.75, "name": "a", "words": ["a", "b"], "documents": ["a text"],
    }  # fmt: skip
    assert asked[1]["documents"] == [] and asked[1]["words"] == ["c"]


@pytest.mark.parametrize(
    "name", ["", "  ", None, 3, "x" * 201, "two\nlines", "\x1b[31m", "\u202egnirts"]
)
def test_what_is_no_name_is_refused(name):
    with pytest.raises(OptionError, match="--namer: the name of topic 0: .* one line of text of 1"):
        names_by(lambda facts: name, SNAPSHOT, NAMES, [])


def test_a_function_that_fails_is_named_with_its_error():
    with pytest.raises(OptionError, match="topic 0: .KeyError: 'missing'.*nothing was changed"):
        names_by(lambda facts: facts["missing"], SNAPSHOT, NAMES, [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("json", "allowed is module:function"),
        ("json:", "allowed is module:function"),
        ("no_such_module:f", "a function that exists .No module named"),
        ("json:no_such", "a function that exists .module 'json' has no attribute"),
        ("json:__name__", "allowed is a function. Name"),
    ],
)
def test_a_wrong_name_of_a_function_is_refused(given, message):
    with pytest.raises(OptionError, match=f"--namer: '?{given}'? was given; .*{message}"):
        load("--namer", given, "my_names:name_topic")


def test_a_function_is_found():
    assert load("--namer", "json:dumps", "my_names:name_topic")(3) == "3"
