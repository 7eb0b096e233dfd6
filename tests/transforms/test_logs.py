import logging

import pytest

from beam_topics.transforms import leave_out_harmless


@pytest.fixture
def root():
    logger = logging.getLogger()
    before = list(logger.filters)
    yield logger
    logger.filters = before


def test_what_is_normal_is_left_out_and_nothing_else(root, caplog):
    leave_out_harmless()
    leave_out_harmless()
    assert len(root.filters) == len(set(root.filters))
    logging.warning("apitools not found, and bigquery client libraries are not available")
    logging.warning(
        "Resource module is not available for current platform, memory usage cannot be fetched."
    )
    logging.warning("a module is not available")
    assert [record.getMessage() for record in caplog.records] == ["a module is not available"]
