import logging
from types import SimpleNamespace

import numba

from beam_topics.model.documents.document import Document
from beam_topics.model.learner_log.progress import counted
from beam_topics.pipelines.cli import progress as shown
from beam_topics.pipelines.cli.progress import COVERAGE, EVENTS, LOGGER, Progress, progress


def send(logger, **figures):
    logger.info(
        "learned",
        extra={
            "key": "",
            "island": 0,
            "sequence": 1,
            "event_time": 0,
            "words": 7,
            "ess": 3.5,
            **figures,
        },
    )


def test_a_line_says_where_learning_stands():
    handler = Progress()
    assert handler.line() == "working"
    logger = logging.Logger("x")
    logger.addHandler(handler)
    send(logger, documents=10, tokens=100)
    # There is no rate before a second record.
    assert handler.line() == "10 documents  7 words"
    send(logger, documents=20, tokens=200, island=1)
    send(logger, documents=4000, tokens=90_100, sequence=2, event_time=86_400_000_000, words=12345)
    line = handler.line()
    assert line.startswith("up to 1970-01-02  2,000 documents  ")
    assert "documents/s" in line
    assert line.endswith("12,345 words")


def test_the_block_listens_and_then_leaves_no_trace(capsys):
    logger = logging.getLogger(LOGGER)
    before = (logger.level, list(logger.handlers), logger.propagate)
    with progress() as handler:
        send(logger, documents=1, tokens=5)
        assert handler.line().startswith("1 document ")
    assert (logger.level, list(logger.handlers), logger.propagate) == before
    assert "1 document " in capsys.readouterr().err


def coverage(end, share, below, level):
    report = SimpleNamespace(word_share=share, retrain_below=below, end=end)
    logging.getLogger(COVERAGE).log(level, "coverage to %d", end, extra={"report": report})


def test_a_model_that_is_being_trained_gets_no_signal_to_train_it(capsys):
    with progress():
        coverage(2, 0.6, None, logging.INFO)
        coverage(1, 0.2, None, logging.INFO)
    assert capsys.readouterr().err == "2 windows; the newest coverage to 2\n"


def test_the_first_versions_with_events_are_told_in_one_line_each(capsys):
    with progress():
        for number in range(12):
            logging.getLogger(EVENTS).info("%s", f"2026, {number} \x1b[2J: 1 topic died")
    *first, summed = capsys.readouterr().err.splitlines()
    assert first == [f"2026, {number} \ufffd[2J: 1 topic died" for number in range(10)]
    assert summed == ("2 more versions have events, which beam-topics show and the report list")


def test_a_line_says_how_much_is_learned_and_how_long_the_rest_takes(monkeypatch):
    now = iter(range(0, 1000, 30))
    monkeypatch.setattr(shown, "time", SimpleNamespace(monotonic=lambda: next(now)))
    handler, logger = Progress(), logging.Logger("x")
    logger.addHandler(handler)
    for number in (150, 50):
        logger.info("read", extra={"read": number})
    assert handler.line() == "working"
    send(logger, documents=10, tokens=100)
    assert handler.line() == "5% of 200 documents  7 words"
    send(logger, documents=50, tokens=500)
    line = handler.line()
    assert line.startswith("25% of 200 documents  ")
    # 40 documents have taken 30 seconds; 150 are left.
    assert "  1 documents/s  2 min left  7 words" in line
    send(logger, documents=200, tokens=2000)
    assert "200 documents" in handler.line() and "left" not in handler.line()


def test_documents_are_counted_while_they_are_read():
    seen, handler = [], logging.Handler(logging.INFO)
    handler.emit = lambda record: seen.append(record.read)
    logger = logging.getLogger(LOGGER)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        items = [Document("a", 0, "")] * 20_001 + ["a dead letter"]
        assert list(counted(items, Document)) == items
    finally:
        logger.removeHandler(handler)
    assert seen == [10_000, 10_000, 1]


def test_kernels_that_are_compiled_are_told(capsys):
    with progress():
        for step in (1, 2):
            numba.njit(lambda number, step=step: number + step)(1)
    assert capsys.readouterr().err == "compiling kernels, once\n"


def test_a_published_model_gets_the_signal_with_the_way_to_train_it(capsys):
    with progress():
        coverage(1, 0.2, 0.7, logging.WARNING)
        coverage(2, 0.9, 0.7, logging.INFO)
    *_, last = capsys.readouterr().err.splitlines()
    assert (
        last == "2 windows, 1 retrain signals; the lowest coverage to 1. To train it further, for"
        " example: beam-topics train data.topics new.csv --add_documents"
    )
