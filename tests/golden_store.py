"""Golden stores: what a release wrote and states, and the calls that make and use it without Beam.

``tests/golden/<release>/`` holds documents (``learned.jsonl``, ``added.jsonl``, ``new.jsonl``), one
model store for each entry of :data:`STORES`, and ``stated.json``. ``tests/golden/make.py`` makes
the folder; ``tests/golden/test_golden.py`` reads it. Everything that a test needs is read from the
folder, so the folder of an older release is tried by the same tests.
"""

import hashlib
import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from blocks import mixtures_of_documents
from streams import run_settings

from beam_topics.model.documents.minibatch import NumberedMinibatch
from beam_topics.model.documents.pending import ListBag, Mirror
from beam_topics.model.documents.sequencing import (
    SequenceHead,
    add_documents,
    chain_start,
    close_windows,
)
from beam_topics.model.documents.settings import SequenceSettings
from beam_topics.model.inference import METHOD, PublishedModel, inference_for, inference_names
from beam_topics.model.inference.base import FitSettings
from beam_topics.model.inference.classifier import ClassifierStore
from beam_topics.model.inference.fitting import fit_classifier, make_pair
from beam_topics.model.kernels.special import dirichlet_weights
from beam_topics.model.learner_log.head import LiveLearners, checkpoint_from_bytes
from beam_topics.model.learner_log.log import Session
from beam_topics.model.learner_log.options import LearnOptions
from beam_topics.model.learners import LEARNER
from beam_topics.model.learners.base import LEARNERS
from beam_topics.model.publishing.blobs import escape_key
from beam_topics.model.publishing.publication import Publisher, PublishHead
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reading.parsing import parse_line
from beam_topics.model.reading.settings import FieldNames, ParseSettings
from beam_topics.model.settings.compositions import compose
from beam_topics.model.settings.options import record_from_json
from beam_topics.model.stored import wire
from beam_topics.model.stored.wire import unseal
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser

GOLDEN = Path(__file__).parent / "golden"
DAY = 86_400_000_000
# The folders of all releases were made with these: a run that is repeated needs the same.
SEQUENCE = {"window": DAY, "minibatch_size": 3}
PUBLISH_EVERY = ("windows", 2)
# The rule of releases that had no other: the best island and particle, each time.
CHECKPOINT_TOKENS = 120
END_OF_STREAM = 2**61
TOP_WORDS = 5

_SMALL = {"topics": 3, "seed": 7}
_STREAM = {**_SMALL, "moves": 5, "reservoir": 10}
_FILTER = {
    **_SMALL,
    "learner": "particle-filter",
    "initial_documents": 6,
    "chains": 2,
    "initial_sweeps": 10,
    "moves": 5,
    "reservoir": 10,
}
# The options of each store, by name.
STORES = {
    "gibbs": _STREAM,
    "no births": {**_STREAM, "births": "off"},
    "archive": {**_SMALL, "schedule": "archive", "sweeps": 10},
    "particle-filter": _FILTER,
    "resampling": {**_FILTER, "beta": 0.01, "resampling": "residual", "particles": 8},
    "batch-gibbs": {**_SMALL, "learner": "batch-gibbs", "beta": 0.01, "chains": 2, "sweeps": 20},
    "fixvoc-vb": {
        **_SMALL,
        "learner": "fixvoc-vb",
        "vocabulary": "full-hash",
        "buckets": 40,
    },
    "infvoc": {**_SMALL, "learner": "infvoc", "truncation": 20, "reorder_every": 3},
    "islands": {**_FILTER, "particles": 4, "islands": 2},
    "keys": _STREAM,
}
# The learners whose learned bits IEEE 754 fixes.
EXACT_LEARNERS = ("particle-filter", "incremental-gibbs", "o-lda", "batch-gibbs")
KEYS = ("en", "de/at")
# The store whose documents are labelled by every method.
LABELLED = "gibbs"
# Methods whose arithmetic IEEE 754 fixes. The others take logarithms and exponentials, or sum in an
# order that the processor's linear algebra chooses.
EXACT_METHODS = ("gibbs1", "gibbs2", "gibbs2-s", "gibbs3", "gibbs3-s")


def keys_of(name):
    """The model keys of a store."""
    return KEYS if name == "keys" else ("",)


@dataclass(frozen=True)
class Stored:
    """One key of a store, and the settings that its own files hold."""

    root: Path
    key: str
    options: LearnOptions

    @property
    def store(self):
        return ModelStore(str(self.root))

    @property
    def islands(self):
        return self.options.settings.islands

    def moved(self, root):
        """The same, of a copy of the store."""
        return replace(self, root=root, options=replace(self.options, store=str(root)))

    def resumed(self, point):
        """The same, to continue from a checkpoint."""
        run = replace(self.options.run, resume_from=point)
        return replace(self, options=replace(self.options, run=run))

    def documents(self, path):
        """The key's tokenised documents in a file."""
        fields = FieldNames(key="key" if self.key else None)
        cut = Tokeniser(self.options.tokeniser)
        lines = path.read_bytes().splitlines()
        parsed = [parse_line(line, path.name, ParseSettings(fields)) for line in lines]
        return cut.block([document for document in parsed if document.key == self.key])

    def states(self):
        """The digest of each island's state at the newest checkpoint."""
        entries = self.store.resume_point(self.key, "latest", self.islands)
        return [self.state_digest(entry) for entry in entries]

    def state_digest(self, entry):
        _, state = checkpoint_from_bytes(self.store.get_checkpoint(self.key, entry.digest))
        return hashlib.sha256(state).hexdigest()


def opened(root, key):
    """A key of a store that is there, with the settings of its ``settings.json``."""
    path = root / escape_key(key) / "settings.json"
    values = unseal(path.read_bytes(), str(path))["settings"]
    learner = record_from_json(LEARNERS, values["learner"], "learner")
    return Stored(
        root,
        key,
        options_of(
            root,
            learner,
            TokeniserSettings.from_json(values["tokeniser"]),
            SequenceSettings.from_json(values["sequence"]),
        ),
    )


def options_of(root, learner, tokeniser, sequence):
    return LearnOptions(
        settings=learner,
        tokeniser=tokeniser,
        sequence=sequence,
        store=str(root),
        run=run_settings(PUBLISH_EVERY, checkpoint_tokens=CHECKPOINT_TOKENS),
        end_of_stream=END_OF_STREAM,
    )


def created(root, key, options):
    """A key of a store that is to be made."""
    learner = compose(LEARNER, options)
    return Stored(
        root, key, options_of(root, learner, TokeniserSettings(), SequenceSettings(**SEQUENCE))
    )


def links_of(stored, documents, added):
    """The numbered minibatches of the documents, and the end marker.

    Of added documents only those that follow the newest checkpoint are there.
    """
    settings = stored.options.sequence
    if added:
        entry = stored.store.resume_point(stored.key, "latest", stored.islands)[0]
        head = SequenceHead(entry.sequence, bytes.fromhex(entry.chain), closed=entry.window_end)
    else:
        head = SequenceHead(0, chain_start(stored.key, stored.options.tokeniser, settings))
    mirror, bag, links = Mirror(), ListBag(), []
    if len(documents):
        head = add_documents(head, mirror, bag, documents.to_bytes(), settings).head
    while head.pending.due is not None:
        for closed in close_windows(head, mirror, bag, time=head.pending.due, settings=settings):
            head = closed.head
            links += closed.links
    return [*links, NumberedMinibatch.end(head.sequence, head.chain)]


def learn(stored, links):
    """What ``Learn`` does with the minibatches on every island; the candidates."""
    candidates = []
    for island in range(stored.islands):
        session = Session(stored.options, stored.key, island, LiveLearners())
        log, gap = ListBag(), ListBag()
        head, offered = session.first()
        candidates += offered
        for link in links:
            out = session.handle(head, [link], log, gap)
            head, candidates = out.head, candidates + out.candidates
    return candidates


def publish(stored, candidates):
    """What ``Publish`` does with the candidates; the versions."""
    head, bag, versions = PublishHead(), ListBag(), []
    publisher = Publisher(stored.options, stored.key, stored.store)
    for candidate in candidates:
        head, made = publisher.handle(head, candidate, bag)
        versions += [manifest for _, manifest in made]
    return versions


def add(stored, path):
    """Continue from the newest checkpoint with the documents of a file.

    Returns:
        The snapshots of the new versions, and the states at the end.
    """
    before = stored.store.latest(stored.key).sequence
    going_on = stored.resumed("latest")
    candidates = learn(going_on, links_of(stored, stored.documents(path), added=True))
    versions = publish(going_on, candidates)
    snapshots = [one.snapshot for one in versions if one.sequence > before]
    return {"snapshots": snapshots, "states": stored.states()}


def fit(stored, documents):
    """A classifier for the newest version."""
    manifest, inference = stored.store.latest(stored.key), compose(METHOD, {})
    published = published_model(stored, manifest)
    prepared = inference_for(inference).prepare(inference, published)
    pairs = [make_pair(inference, prepared, published, one) for one in documents.documents()]
    settings = FitSettings()
    topics = published.snapshot.topic_count
    fitted = fit_classifier(
        manifest, topics, filter(None, pairs), settings, inference=inference, on_step=bool
    )
    return ClassifierStore(str(stored.root)).put(fitted)


def published_model(stored, manifest, classifier=None, training=None):
    snapshot = stored.store.get_snapshot(manifest)
    return PublishedModel(snapshot, manifest.version, classifier, training)


def mixtures(stored, training, documents):
    """For each method the proportions of the documents, under the newest version."""
    manifest, classifiers = stored.store.latest(stored.key), ClassifierStore(str(stored.root))
    digest = classifiers.find(stored.key, manifest.version, "maxent")
    classifier = classifiers.get(stored.key, digest)
    published, found = published_model(stored, manifest, classifier, training), {}
    for name in inference_names():
        settings = compose(METHOD, {"method": name})
        made = mixtures_of_documents(settings, published, documents)
        found[name] = [one.proportions.tolist() for one in made]
    return found


def is_exact(stored):
    """Whether IEEE 754 fixes every learned bit."""
    return stored.options.settings.kind in EXACT_LEARNERS


def arithmetic():
    """A digest of results whose last bits depend on the machine.

    They come from a C library, from numpy's loops for this processor, or from its linear algebra.
    """
    x = np.linspace(0.01, 40.0, 997)
    scalars = [
        [math.exp(-v), math.log(v), math.log1p(v), math.lgamma(v), v**-0.7] for v in x.tolist()
    ]
    table = np.zeros((len(x), 1))
    dirichlet_weights(np.arange(len(x)), x[:, None], 1.0, 0.01, np.array([x.sum()]), table)
    square = np.cos(np.outer(x[:60], x[:60]))
    arrays = [scalars, table, np.exp(-x), np.log(x), np.log1p(x), square @ square]
    single = square.astype(np.float32)
    parts = [wire.array_to_bytes(values, "<f8") for values in arrays]
    return wire.digest(*parts, wire.array_to_bytes(single @ single, "<f4")).hex()


def files_of(root):
    """The bytes of every file under a folder, by its path there."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def stated_of(folder):
    return json.loads((folder / "stated.json").read_bytes())
