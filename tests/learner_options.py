"""Learners' settings for tests, made of options by name."""

from model.compositions import compose
from model.learners import LEARNER


def made(common=None, **own):
    """Settings of options; those of ``common`` are taken where they belong to what ``own`` chooses."""
    return compose(LEARNER, own, common or {})
