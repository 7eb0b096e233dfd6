"""What a run that learns came to: all minibatches learned, or an interrupt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from shlex import quote
from typing import Any

import apache_beam as beam

from beam_topics.model.errors import (
    InterruptedRunError,
    LostMinibatchesError,
    RefusedInputError,
)
from beam_topics.model.interrupts import INTERRUPTS
from beam_topics.model.learner_log.log import keep_live
from beam_topics.model.learner_log.options import RunSettings
from beam_topics.model.publishing.checkpoint_store import rollback
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.settings_from_options import (
    learn_options_of,
    learner_settings_of,
)
from beam_topics.pipelines.cli.stored import store_of
from beam_topics.pipelines.graphs.additions import additions_began, go_on, print_end
from beam_topics.pipelines.graphs.counted import check_words, tell_repeats
from beam_topics.pipelines.graphs.execute import run


def run_and_check(build: Callable[[beam.Pipeline, Options], Any], options: Options) -> None:
    """Run a graph that learns, and check that it learned every minibatch."""
    go_on(options)
    began = additions_began(options, [""]).get("")
    store = store_of(options)
    before = store.latest("")
    try:
        run(build, options, lambda counted: check_learned(counted, options))
    except BaseException as error:
        if INTERRUPTS.asked:
            raise interrupted(options, began) from error
        if not isinstance(error, RefusedInputError) or store.latest("") == before:
            raise
        undo = rollback(store.root, "", before.version) if before else f"rm -r {quote(store.root)}"
        raise RefusedInputError(f"{error} Before you learn it corrected, run {undo}.") from error


def interrupted(options: Options, began: int | None) -> InterruptedRunError:
    """Keep what the learners of this process have learned, and return what to say.

    An addition is repeated from where it began, so its learners are not kept.
    """
    learning = learn_options_of(options)
    store = learning.opened()
    if learning.run.add_documents and began is None:
        return InterruptedRunError(
            f"interrupted. Some keys of {store.root} have learned their documents and others have"
            " not. Begin again with a copy of the store from before."
        )
    if learning.run.add_documents:
        return InterruptedRunError(
            f"interrupted. Versions stay in {store.root}, and these documents are learned again"
            " from their first one.",
            ("--add_documents", f"--resume_from={began}"),
        )
    keep_live(learning)
    if not any(map(store.has_checkpoints, store.keys())):
        return InterruptedRunError(
            f"interrupted before the first checkpoint. Versions stay in {store.root}, and learning"
            " begins again with the first document.",
            (),
        )
    return InterruptedRunError(
        f"interrupted. What was learned is kept in {store.root} as a checkpoint.",
        ("--resume_from=latest",),
    )


def check_learned(counted: Mapping[str, int], options: Options) -> None:
    """Check that every minibatch was learned on every island, or was known already.

    A runner that ends without that lost some. If a learner was restored, a runner may have counted
    twice, and the numbers say nothing.

    Raises:
        LostMinibatchesError: fewer minibatches were learned than were cut.
        RefusedInputError: no document has a word.
    """
    check_words(counted)
    tell_repeats(counted, options)
    cut = counted.get("minibatches", 0) * learner_settings_of(options).islands
    learned = counted.get("learned_minibatches", 0) + counted.get("repeats", 0)
    if learned < cut and not counted.get("restores", 0):
        raise LostMinibatchesError(
            f"the job ended, but of {cut} minibatches (all islands together) only {learned} were"
            " learned: the runner lost or still holds the others. The model store is good up to"
            " there. Continue with --resume_from=latest, and report which runner it was."
        )
    if settings_of(options, RunSettings).add_documents:
        print_end(counted)
