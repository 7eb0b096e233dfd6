"""Log records of Beam that are left out, because they warn of what is normal here."""

from __future__ import annotations

import logging

# Beam logs the first where the extra ``gcp`` is not installed, and the second where torch is not.
HARMLESS = ("apitools not found", "Resource module is not available")


def _is_wanted(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith(HARMLESS)


def leave_out_harmless() -> None:
    """Leave them out of the root logger's records from now on; calling this again changes
    nothing.
    """
    logging.getLogger().addFilter(_is_wanted)
