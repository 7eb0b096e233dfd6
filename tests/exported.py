"""Model stores of a small corpus, learned without Beam, for tests of what is exported."""

import random

from beam_topics.model.documents.document import Document
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.learner_log.local import learn_documents
from beam_topics.model.learner_log.options import LearnOptions, RunSettings
from beam_topics.model.learners import LEARNER
from beam_topics.model.publishing.catalogue import Catalogue
from beam_topics.model.publishing.settings import Publication
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.shown import Shown
from beam_topics.model.settings.compositions import compose
from beam_topics.model.words.tokeniser import Tokeniser, tokeniser_settings

SEA = ["ship", "harbour", "sail", "captain", "storm", "wind", "deck", "cargo", "port", "crew"]
LAW = ["court", "judge", "law", "trial", "jury", "appeal", "lawyer", "verdict", "witness", "case"]
DAY = 86_400_000_000


def documents(count=120):
    draw, words = random.Random(1), Tokeniser(tokeniser_settings(stop_words="en"))
    return words.block(
        [
            Document(str(n), n * DAY // 2, " ".join(draw.choices(LAW if n % 2 else SEA, k=12)))
            for n in range(count)
        ]
    )


def learned(root, **options):
    """What is exported of a store that learns :func:`documents`."""
    given = {"topics": 2, "births": "off", **options}
    given = {name: value for name, value in given.items() if value is not None}
    learn_documents(
        documents(),
        LearnOptions(
            settings=compose(LEARNER, given),
            tokeniser=tokeniser_settings(stop_words="en"),
            sequence=SequenceSettings(window=2 * DAY, minibatch_size=10),
            store=str(root),
            run=RunSettings(publish_every=Publication("period", 10 * DAY)),
        ),
        lambda letter: None,
    )
    store = ModelStore(str(root))
    newest = store.manifest("")
    catalogue = Catalogue().with_entries([1], name='the "sea"')
    return Shown(catalogue, newest, store.get_snapshot(newest))
