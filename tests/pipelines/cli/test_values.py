import argparse

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.errors import OptionError
from beam_topics.model.times import duration_text
from beam_topics.pipelines.cli import values


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1h", 3_600_000_000),
        ("15min", 900_000_000),
        ("1h30min", 5_400_000_000),
        ("30d", 2_592_000_000_000),
        ("250ms", 250_000),
        ("7us", 7),
    ],
)
def test_durations(text, micros):
    assert values.duration(text) == micros


@settings(max_examples=60)
@given(st.integers(1, 2**61))
def test_the_text_of_a_duration_reads_back(micros):
    assert values.duration(duration_text(micros)) == micros


def test_several_durations():
    assert values.durations("none, 2s,1min") == (0, 2_000_000, 60_000_000)
    assert values.durations("none") == (0,)
    assert values.durations("auto") == ()
    with pytest.raises(argparse.ArgumentTypeError, match="'never' was given; allowed is a length"):
        values.durations("2s,never")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "h",
        "3m",
        "1.5h",
        "-1h",
        "1 h",
        "0s",
        "99999999999999999999w",
        "٣h".replace("٣", "x"),
    ],
)
def test_what_is_not_a_duration_says_what_is(text):
    with pytest.raises(
        argparse.ArgumentTypeError, match="was given; allowed is a length of time such as 15min"
    ):
        values.duration(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4windows", ("windows", 4)),
        ("1window", ("windows", 1)),
        ("2d", ("period", 172_800_000_000)),
    ],
)
def test_publications(text, expected):
    assert values.publication(text) == expected


@pytest.mark.parametrize("text", ["0windows", "windows", "often", "-3windows"])
def test_what_is_not_a_publication_says_what_is(text):
    with pytest.raises(
        argparse.ArgumentTypeError,
        match="a number of windows such as 4windows, or a length of time",
    ):
        values.publication(text)


def test_patterns():
    assert values.patterns("a.jsonl, b/*.avro,") == ["a.jsonl", "b/*.avro"]
    with pytest.raises(argparse.ArgumentTypeError, match="one or more paths or globs"):
        values.patterns(" , ")


def test_names():
    assert values.names("gibbs2, gibbs3-s,") == ["gibbs2", "gibbs3-s"]
    with pytest.raises(argparse.ArgumentTypeError) as error:
        values.names(",")
    assert (
        str(error.value)
        == "',' was given; allowed is one or more names, separated by commas. Give at least one."
    )


def test_choices():
    assert values.choices(("a", "b-c", "d")) == "a, b-c or d"


def test_words():
    assert values.words("hulk, wolverine,hulk,") == ("hulk", "wolverine")
    with pytest.raises(
        argparse.ArgumentTypeError, match=r"' ,' was given; allowed is one or more words"
    ):
        values.words(" ,")


def test_numbers():
    assert (
        values.whole("200_000"),
        values.whole("-3"),
        values.number("0.5"),
        values.positive("1"),
    ) == (200_000, -3, 0.5, 1)
    for parse, text in (
        (values.whole, "2.5"),
        (values.positive, "0"),
        (values.number, "nan"),
        (values.number, "inf"),
        (values.number, "x"),
    ):
        with pytest.raises(argparse.ArgumentTypeError, match=f"'{text}' was given; allowed is a"):
            parse(text)


def test_switches():
    assert (values.switch("true"), values.switch("false")) == (True, False)
    with pytest.raises(
        argparse.ArgumentTypeError,
        match="'yes' was given; allowed is true or false. Leave the value out for true.",
    ):
        values.switch("yes")


FULL = "https://hooks.slack.com/services/T0/B0/x"


@pytest.mark.parametrize(
    "url",
    [
        "https://alarms.example/topics?a=b",
        "https://alarms.example:8443",
        "http://localhost:80/x",
        "http://[::1]:80",
        "https://hooks.slack.com",
    ],
)
def test_addresses_that_are_taken(url):
    values.check_webhook("--events", url)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://", "'https://' was given; allowed is https:// with a host, a port and a path."),
        ("https://a:x/", "allowed is https:// with a host"),
        ("https://a:0/", "allowed is https:// with a host"),
        ("https://[::1/", "allowed is https:// with a host"),
        ("https://a/\nx", "allowed is https:// with a host"),
        ("https://a/x y", "allowed is https:// with a host"),
        ("http://a/x", "'http://a/...' was given; allowed is https://, or http://localhost."),
        ("http://localhost.example/", "allowed is https://, or http://localhost."),
        ("https://me:hidden@a/x", "allowed is an address without a user and a password."),
        (FULL, "allowed is https://hooks.slack.com alone. Its address is a secret: put it into"),
    ],
)
def test_addresses_that_are_refused_in_one_line(url, said):
    with pytest.raises(OptionError) as refused:
        values.check_webhook("--events", url)
    text = str(refused.value)
    assert text.startswith("--events: ") and said in text and "\n" not in text
    assert "hidden" not in text and "T0" not in text
