"""Filter log records of Beam that warn of what is normal here."""

from __future__ import annotations

import logging

# Beam logs the first if the extra ``gcp`` is not installed, and the second without torch.
HARMLESS = ("apitools not found", "Resource module is not available")


def _is_wanted(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith(HARMLESS)


def leave_out_harmless() -> None:
    """Filter them from the records of the root logger. A second call changes nothing."""
    logging.getLogger().addFilter(_is_wanted)
