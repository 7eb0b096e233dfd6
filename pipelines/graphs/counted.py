"""What the counters of a run say of its documents: repeated ids, and documents without words."""

from __future__ import annotations

from collections.abc import Mapping

from beam_topics.model.documents.sequencing import REPEATS
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.errors import RefusedInputError
from beam_topics.model.words.tokeniser import wordless
from beam_topics.pipelines.cli.groups import Options, settings_of
from beam_topics.pipelines.cli.terminal import tell
from beam_topics.transforms.shared import LOST, WITHOUT_WORDS


def tell_repeats(counted: Mapping[str, int], options: Options) -> None:
    """Say how many documents were not learned because another one of their window has their id."""
    found = [counted.get(f"dead_{reason}", 0) for reason in REPEATS]
    if sum(found):
        kept = settings_of(options, SequenceSettings).on_repeat
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
