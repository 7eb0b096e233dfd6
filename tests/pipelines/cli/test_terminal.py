import io

import numpy as np
from rich.console import Console

from beam_topics.model.publishing.snapshot import Snapshot, TopicWordPrior
from beam_topics.model.reporting.relevance import topic_shares
from beam_topics.pipelines.cli.terminal import (
    change_table,
    coherence_table,
    figure_table,
    plain,
    rank_table,
    rank_trace,
    sparkline,
    thin,
    topic_table,
)


def printed(table):
    out = io.StringIO()
    Console(file=out, width=100).print(table)
    return out.getvalue()


def snapshot():
    counts = np.array([[3.0, 0.0], [0.0, 8.0], [1.0, 4.0]])
    words = ("[red]a[/red]", "b\x1b[31mb", "plain")
    return Snapshot.from_dense(
        counts,
        key="",
        sequence=1,
        event_time=0,
        fingerprint="",
        alpha=np.ones(2),
        prior=TopicWordPrior.flat(1.0, 3, 3, topics=2),
        words=words,
    )


def test_sparklines():
    assert sparkline([0, 1, 2, 8]) == "▁▂▃█"
    assert sparkline([0, 0]) == "▁▁"
    assert sparkline([float("nan"), 1]) == " █"
    assert sparkline([]) == ""


def test_ranks_are_of_the_topic_where_a_word_stands_highest_now():
    rows = [
        {"ranks": {"sea": ranks, "gone": gone, "never": {}}}
        for ranks, gone in (({"0": 9}, {"0": 4, "8": 2}), ({"0": 1, "8": 5}, {}))
    ]
    assert rank_trace("sea", rows) == ("0", [9, 1])
    assert rank_trace("gone", rows) == ("8", [2, None])
    assert rank_trace("never", rows) == (None, [None, None])
    text = printed(rank_table(("sea", "gone", "never"), rows))
    assert [line.replace("│", " ").split()[:5] for line in text.splitlines()[3:]] == [
        ["sea", "0", "9", "1", "1"],
        ["gone", "8", "2", "2", "–"],
        ["never", "–", "–", "–", "–"],
    ]


def test_thin_keeps_both_ends():
    assert thin(range(5), 9) == [0, 1, 2, 3, 4]
    some = thin(range(100), 7)
    assert len(some) == 7
    assert (some[0], some[-1]) == (0, 99)


def test_shares_sum_to_one():
    assert topic_shares(snapshot()).tolist() == [4 / 16, 12 / 16]


def test_words_are_shown_as_they_are_and_never_obeyed():
    marks, curves = ["", "like [b]0[/b]"], ["▁", "█"]
    text = printed(
        topic_table("a [b]title[/b]", snapshot(), curves, "curve", 3, {}, ids=[0, 7], marks=marks)
    )
    assert text.count("[like [b]0[/b]]") == 1
    assert "[red]a[/red]" in text
    assert "[b]title[/b]" in text
    assert "\x1b" not in text
    assert text.index("75.0%") < text.index("25.0%")


def test_control_and_bidirectional_characters_are_replaced():
    assert plain("a\x1b[2Jb\r\u202ec\u2028").plain == "a\ufffd[2Jb\ufffd\ufffdc\ufffd"
    assert plain("a\u200f\u200e\u061c\n").plain == "a\ufffd\ufffd\ufffd\ufffd"
    assert plain("déjà\u200cvu — 言葉").plain == "déjà\u200cvu — 言葉"


def test_figures():
    text = printed(figure_table("t", ("a", "b", "c", "d"), [(1234, None, 0.5, 812.7)]))
    assert all(part in text for part in ("1,234", "–", "0.500", "813"))


def test_of_one_the_last_is_kept():
    assert thin(range(100), 1) == [99]


def test_changed_words_are_shown_with_their_ranks():
    changed = [{"topic": 3, "entered": {"sea": 2}, "left": {"[red]tax": None, "law": 12}}]
    row = printed(change_table("since", changed)).splitlines()[-1]
    assert row.replace("│", " ").split() == ["3", "sea", "2", "[red]tax", "–", "law", "12"]


def test_a_title_that_is_longer_than_its_table_is_one_line():
    title = "against gibbs2, means of 1,234 documents of the model"
    for table in (
        figure_table(title, ("a",), [(1,)]),
        change_table(title, [{"topic": 3, "entered": {"sea": 2}, "left": {}}]),
    ):
        assert printed(table).splitlines()[0] == title


def test_mixed_topics_come_first_and_are_marked():
    words = {"words": ["sea", "ship"], "characteristic": ["law", "\x1b[2Jcocoa"]}
    topic = {"npmi": 0.25, "never": 0.1, "across": 2.5, **words}
    mixed = {"npmi": -0.01, "never": 0.3, "across": 1.1, **words}
    unknown = {**topic, "across": None}
    topics = [{"topic": 50 + at, **one} for at, one in enumerate((unknown, topic, mixed))]
    row = {"version": "000000000003-ab", "mixed": 1, "topics": topics}
    lines = printed(coherence_table(row)).splitlines()
    assert lines[0] == "version 000000000003-ab: 1 of 3 topics are judged mixed"
    rows = [line.replace("│", " ").split() for line in lines[3:]]
    assert rows[0] == ["52*", "-0.010", "0.300", "1.100", "law", "\ufffd[2Jcocoa"]
    assert rows[1] == ["51", "0.250", "0.100", "2.500", "sea", "ship"]
    assert rows[2] == ["50", "0.250", "0.100", "–", "sea", "ship"]
