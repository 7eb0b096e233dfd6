import json

import apache_beam as beam
from collecting import run

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.transforms.infer import Route, without_model


def document(name, key):
    return Block.of_words([Document(name, 0, "", None, key)], [["ship", "sea", "ship"]])


def test_documents_of_unknown_keys_become_dead_letters():
    documents = [document(f"{key}{n}", key) for key in ("a/b", "", "é", "other") for n in range(3)]

    def build(pipeline):
        routed = (
            pipeline
            | beam.Create([item.to_bytes() for item in documents])
            | Route(["a/b", "", "é"])
        )
        return {"known": routed.documents, "dead": routed.dead_letters}

    held, counters = run(build)
    assert sorted(Block.from_bytes(data).ids[0] for _, data in held["known"]) == sorted(
        f"{key}{n}" for key in ("a/b", "", "é") for n in range(3)
    )
    assert {json.loads(data)["reason"] for _, data in held["dead"]} == {"unknown_key"}
    assert counters["dead_unknown_key"] == len(held["dead"]) == 3


def test_a_dead_letter_names_the_document_its_key_and_the_known_keys():
    (letter,) = without_model(document("d1", "fr").to_bytes(), list("abcdefg"))
    assert (letter.source, letter.reason) == ("routing", "unknown_key")
    assert (
        letter.detail
        == "this run has no model for the key 'fr', but for 'a', 'b', 'c', 'd', 'e', ..."
    )
    assert json.loads(letter.record)["words"] == "ship sea ship"
