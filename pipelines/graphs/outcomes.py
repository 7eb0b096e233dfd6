"""What a run that learns came to: all minibatches learned, or an interrupt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from shlex import quote
from typing import Any

import apache_beam as beam

from beam_topics.model.documents.sequencing import REPEATS
from beam_topics.model.errors import (
    InterruptedRunError,
    LostMinibatchesError,
    RefusedInputError,
)
from beam_topics.model.interrupts import INTERRUPTS
from beam_topics.model.learner_log.log import keep_live
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.publishing.checkpoint_store import rollback
from beam_topics.model.words.tokeniser import wordless
from beam_topics.pipelines.cli.groups import Options
from beam_topics.pipelines.cli.terminal import tell
from beam_topics.pipelines.graphs.additions import Beginning, beginning_of, print_end
from beam_topics.pipelines.graphs.execute import run
from beam_topics.transforms.shared import LOST, WITHOUT_WORDS


def run_and_check(
    build: Callable[[beam.Pipeline, Options, Beginning], Any], options: Options
) -> None:
    """Run a graph that learns, and check that it learned every minibatch."""
    beginning = beginning_of(options)
    learning = beginning.learning
    store = learning.opened()
    before = store.latest("")
    try:
        run(
            lambda pipeline, options: build(pipeline, options, beginning),
            options,
            lambda counted: check_learned(counted, learning),
        )
    except BaseException as error:
        if INTERRUPTS.asked:
            raise interrupted(learning, beginning.sequence) from error
        if not isinstance(error, RefusedInputError) or store.latest("") == before:
            raise
        undo = rollback(store.root, "", before.version) if before else f"rm -r {quote(store.root)}"
        raise RefusedInputError(f"{error} Before you learn it corrected, run {undo}.") from error


def interrupted(learning: LearnOptions, began: int | None) -> InterruptedRunError:
    """Keep what the learners of this process have learned, and return what to say.

    An addition is repeated from where it began, so its learners are not kept.
    """
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


def check_learned(counted: Mapping[str, int], learning: LearnOptions) -> None:
    """Check that every minibatch was learned on every island, or was known already.

    A runner that ends without that lost some. If a learner was restored, a runner may have counted
    twice, and the numbers say nothing.

    Raises:
        LostMinibatchesError: fewer minibatches were learned than were cut.
        RefusedInputError: no document has a word.
    """
    check_words(counted)
    tell_repeats(counted, learning.sequence.on_repeat)
    cut = counted.get("minibatches", 0) * learning.settings.islands
    learned = counted.get("learned_minibatches", 0) + counted.get("repeats", 0)
    if learned < cut and not counted.get("restores", 0):
        raise LostMinibatchesError(
            f"the job ended, but of {cut} minibatches (all islands together) only {learned} were"
            " learned: the runner lost or still holds the others. The model store is good up to"
            " there. Continue with --resume_from=latest, and report which runner it was."
        )
    if learning.run.add_documents:
        print_end(counted)


def tell_repeats(counted: Mapping[str, int], kept: str) -> None:
    """Say how many documents were not learned because another one of their window has their id."""
    found = [counted.get(f"dead_{reason}", 0) for reason in REPEATS]
    if sum(found):
        tell(
            f"{sum(found):,} documents have an id that another document of their window has, and"
            f" {found[0]:,} of them its text, too. The {kept} of each id was learned (--on_repeat);"
            " the others are dead letters."
        )


def check_words(counted: Mapping[str, int]) -> None:
    """Check that documents have words, and say why if nine of ten have none."""
    documents, without = counted.get("documents", 0), counted.get(WITHOUT_WORDS, 0)
    lost = {name.removeprefix(LOST): n for name, n in counted.items() if name.startswith(LOST)}
    said = wordless(documents, without, lost)
    if said and without == documents:
        raise RefusedInputError(said)
    if said:
        tell(said)
