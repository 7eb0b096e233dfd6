"""The steps of the pipelines, one file for each stage; :mod:`beam_topics.model` has the logic."""

from __future__ import annotations

import logging

# Records that warn of what is normal here: Beam logs the first without the extra ``gcp``, and its
# RunInference the second on every worker without torch.
HARMLESS = ("apitools not found", "Resource module is not available")


def _is_wanted(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith(HARMLESS)


def leave_out_harmless() -> None:
    """Filter them from the records of the root logger. A second call changes nothing."""
    logging.getLogger().addFilter(_is_wanted)


# Here, before a step imports Beam, because one of the records is logged by that import.
leave_out_harmless()
