"""Which settings of a learner go together (:class:`model.settings.LearnerSettings`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model.errors import OptionError

if TYPE_CHECKING:
    from model.settings import LearnerSettings

_REVISING = ("particle-filter", "incremental-gibbs")
_PARTICLES = (*_REVISING, "o-lda", "batch-gibbs")


def check_together(settings: LearnerSettings) -> None:
    """Refuse settings each of which is allowed, and which contradict each other, or of which one would be ignored.

    Raises:
        OptionError: there are such settings.
    """
    if settings.particles % settings.islands:
        raise OptionError(
            "--islands",
            settings.islands,
            f"a divisor of --particles ({settings.particles})",
            "Each island holds the same number of particles.",
        )
    if settings.islands > 1 and not settings.initial_documents:
        raise OptionError(
            "--initial_documents",
            0,
            "1 or more when --islands is above 1",
            "Islands agree on what a topic is by sharing an initial batch.",
        )
    if settings.ess > settings.particles:
        raise OptionError(
            "--ess", settings.ess, f"at most --particles ({settings.particles})", "Give a number of particles, or a fraction below 1."
        )
    if settings.ess and settings.learner != "particle-filter":
        raise OptionError("--ess", settings.ess, "0 unless --learner=particle-filter", "Leave it out: no other learner resamples.")
    if 0 < settings.ess_threshold < 1 < settings.island_particles:
        least = (
            f"0, or what comes to 1 or more of the {settings.island_particles} particles of an island, not to {settings.ess_threshold:g}"
        )
        raise OptionError("--ess", settings.ess, least, "An effective sample size is never below 1.")
    if settings.learner == "particle-filter" and settings.rejuvenation == "resampling" and not settings.ess:
        raise OptionError(
            "--rejuvenation", "resampling", "document, tokens or never when --ess is 0", "Nothing resamples then; give --ess, say 0.5."
        )
    if settings.sampler != "auto" and settings.learner != "batch-gibbs":
        raise OptionError(
            "--sampler", settings.sampler, "auto unless --learner=batch-gibbs", "Leave it out: only batch-gibbs has two samplers."
        )
    if settings.word_list and settings.prior == "flat" and settings.learner in _PARTICLES:
        size = f"{len(settings.word_list)} words"
        raise OptionError("--word_list", size, "nothing with --prior=flat", "That prior does not look at spelling: leave the list out.")
    if settings.vocabulary == "given" and not settings.words:
        raise OptionError("--vocabulary", "given", "a list of at least one word beside it", "Give the words with --vocabulary_file.")
    revises = settings.learner in _REVISING and settings.rejuvenation != "never" and settings.moves
    if revises and not settings.newest and not settings.reservoir and not settings.whole_past:
        raise OptionError(
            "--rejuvenation",
            settings.rejuvenation,
            "never when --newest and --reservoir are both 0",
            "Give one of them a size, or turn it off.",
        )
