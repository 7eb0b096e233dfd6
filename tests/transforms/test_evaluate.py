import dataclasses
import json

import apache_beam as beam
from blocks import joined
from collecting import run
from made import manifest_of, random_snapshot

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.model.evaluation.coherence import coherence_figures
from beam_topics.model.evaluation.held_out import classification_figures, evaluate
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.publishing.succession import ranks_of
from beam_topics.transforms.evaluate import Evaluate, figures_of

DOCUMENTS = [
    Block.of_words(
        [Document(f"d{n}", n, "", str(n % 2))], [[f"w{(n * step) % 30}" for step in range(1, 9)]]
    )
    for n in range(6)
]
TRAINING = [
    Block.of_words(
        [Document(f"t{n}", n, "", str(n % 2))], [[f"w{(n * step) % 30}" for step in range(2, 9)]]
    )
    for n in range(9)
]


def versions(tmp_path):
    store = ModelStore(str(tmp_path))
    for sequence in (1, 2, 3):
        snapshot = dataclasses.replace(random_snapshot(seed=sequence), sequence=sequence)
        # The window of the latest document ends on the day after it.
        times = {"event_time": 86_400_000_000, "times": [0, 86_399_000_000]}
        yield manifest_of(sequence, snapshot=store.put_snapshot(snapshot), **times), snapshot


def test_every_version_is_scored_on_all_documents(tmp_path):
    made = list(versions(tmp_path))

    def build(pipeline):
        documents = pipeline | "Documents" >> beam.Create(
            [document.to_bytes() for document in DOCUMENTS[::-1]]
        )
        reference, training = (
            pipeline | name >> beam.Create([document.to_bytes() for document in part])
            for name, part in (("R", DOCUMENTS), ("T", TRAINING))
        )
        lines = pipeline | "Versions" >> beam.Create([manifest.to_json() for manifest, _ in made])
        return {
            "lines": lines
            | Evaluate(
                str(tmp_path),
                ("w3", "never"),
                documents,
                reference,
                training,
            )
        }

    held, _ = run(build)
    rows = sorted((json.loads(line) for _, line in held["lines"]), key=lambda row: row["sequence"])
    for row, (manifest, snapshot) in zip(rows, made, strict=True):
        expected = evaluate(snapshot, joined(DOCUMENTS))
        assert {name: row[name] for name in expected} == expected
        assert row["version"] == manifest.version
        coherence = coherence_figures(
            snapshot, joined(DOCUMENTS), manifest.ids(snapshot.topic_count)
        )
        assert {name: row[name] for name in coherence} == json.loads(json.dumps(coherence))
        assert (
            row["svm_accuracy"]
            == classification_figures(snapshot, joined(TRAINING), joined(DOCUMENTS))["svm_accuracy"]
        )
        assert row["ranks"] == ranks_of(snapshot, ("w3", "never"), range(snapshot.topic_count))
        assert row["learned_documents"] == manifest.documents
        assert row["prequential_perplexity"] == manifest.prequential_perplexity
        assert row["day"] == "1970-01-01"


def test_the_order_of_the_documents_is_of_no_account(tmp_path):
    manifest, _ = next(versions(tmp_path))
    data = [document.to_bytes() for document in DOCUMENTS]
    one, other = (
        figures_of(manifest.to_json(), part, part, part, str(tmp_path))
        for part in (data, data[::-1])
    )
    assert one == other


def test_without_other_documents_there_are_no_other_figures(tmp_path):
    manifest, _ = next(versions(tmp_path))
    row = json.loads(figures_of(manifest.to_json(), [], [], [], str(tmp_path)))
    absent = ("pmi", "npmi", "mixed", "topics", "svm_accuracy", "nmi")
    assert [row[name] for name in absent] == [None] * 6
    assert row["ranks"] == {}
