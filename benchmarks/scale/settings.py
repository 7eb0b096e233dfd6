"""Flags of ``train`` that several groups of rows share."""

from __future__ import annotations

# Windows of a month, and one version.
PUBLISHING = ("--window=30d", "--publish_every=3650d")
# Cheap learning, so that what is around it shows.
CHEAP = ("--learner=o-lda",)
LEARNING = (*CHEAP, "--topics=20")
TRAINING = (*LEARNING, *PUBLISHING)
