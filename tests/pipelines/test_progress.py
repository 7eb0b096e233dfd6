import logging

from pipelines.progress import LOGGER, Progress, progress


def send(logger, **figures):
    logger.info("learned", extra={"key": "", "island": 0, "sequence": 1, "event_time": 0, "words": 7, "ess": 3.5, **figures})


def test_a_line_says_where_learning_stands():
    handler = Progress()
    assert handler.line() == "working"
    logger = logging.Logger("x")
    logger.addHandler(handler)
    send(logger, documents=10, tokens=100)
    send(logger, documents=20, tokens=200, island=1)
    send(logger, documents=4000, tokens=90_100, sequence=2, event_time=86_400_000_000, words=12345)
    line = handler.line()
    assert line.startswith("up to 1970-01-02  2,000 documents  ")
    assert "tokens/s" in line
    assert line.endswith("12,345 words  ESS 3.5")


def test_the_block_listens_and_then_leaves_no_trace(capsys):
    logger = logging.getLogger(LOGGER)
    before = (logger.level, list(logger.handlers), logger.propagate)
    with progress() as handler:
        send(logger, documents=1, tokens=5)
        assert handler.line().startswith("up to 1970-01-01")
    assert (logger.level, list(logger.handlers), logger.propagate) == before
    assert "up to 1970-01-01  1 documents" in capsys.readouterr().err
