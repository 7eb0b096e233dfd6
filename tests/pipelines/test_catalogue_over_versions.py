"""A catalogue lies over ten versions, a resumed run, and a topic that dies; sums are exact."""

import json

import numpy as np
import pytest
from reported import published

from beam_topics.model.publishing.catalogue import CatalogueStore
from beam_topics.model.publishing.store import ModelStore
from beam_topics.model.reporting.relevance import topic_shares
from beam_topics.model.reporting.shown import Shown
from beam_topics.pipelines import topics, train

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = tuple(f"word{n}" for n in range(40))


def change(store, *options):
    assert topics.main([f"--model_store={store}", *options]) == 0
    return CatalogueStore(str(store)).latest("")


def named_and_merged(store):
    """A merge of merged topics, and names: 4 is a part of 3, which is merged into 0."""
    change(store, "--topic_ids=0", "--topic_name=Zero")
    change(store, "--topic_ids=4", "--merge_into=3")
    return change(store, "--topic_ids=3", "--merge_into=0")


def test_it_holds_for_ten_versions_and_every_one_of_its_own_can_be_rolled_back_to(tmp_path):
    store = published(tmp_path / "models", versions=10, words=WORDS)
    named_and_merged(store.root)
    catalogues = CatalogueStore(store.root)
    for manifest in store.manifests(""):
        catalogue = catalogues.latest(manifest.key)[1]
        snapshot = store.get_snapshot(manifest)
        shown = Shown(catalogue, manifest, snapshot)
        assert shown.ids == [0, 1, 2] and catalogue.of(0).name == "Zero"
        shares = topic_shares(snapshot)
        # To the last digit: the same sum in the order of topics.
        assert shown.groups.sums(shares)[0] == shares[0] + shares[3] + shares[4]
        assert shown.snapshot.totals[0] == snapshot.totals[[0, 3, 4]].sum()
    for digest in catalogues.history(""):
        found = change(store.root, f"--roll_back={digest[:12]}")[1]
        assert found.entries == catalogues.get("", digest).entries


def test_a_topic_that_dies_keeps_its_entry_and_has_no_share(tmp_path):
    store = published(tmp_path / "models", versions=2, words=WORDS)
    named_and_merged(store.root)
    manifest = store.latest("")
    snapshot = store.get_snapshot(manifest)
    dense = snapshot.rows(np.arange(len(WORDS)))
    dense[:, 3] = 0
    names = ("key", "sequence", "event_time", "fingerprint", "alpha", "prior", "words")
    dead = type(snapshot).from_dense(dense, **{name: getattr(snapshot, name) for name in names})
    catalogue = CatalogueStore(store.root).latest("")[1]
    shares = topic_shares(dead)
    assert shares[3] == 0
    assert Shown(catalogue, manifest, dead).groups.sums(shares)[0] == shares[0] + shares[4]
    # Fewer topics: the entries of those that are gone are passed over.
    assert catalogue.roots([0, 1, 2]) == [0, 1, 2]


@pytest.mark.slow
def test_it_outlives_a_run_that_is_resumed(tmp_path):
    documents = [
        {
            "id": str(n),
            "timestamp": n * 3600,
            "text": " ".join(LETTERS[(n * k) % 26] * 3 for k in range(9)),
        }
        for n in range(60)
    ]
    (tmp_path / "first.jsonl").write_text("\n".join(map(json.dumps, documents[:48])))
    (tmp_path / "both.jsonl").write_text("\n".join(map(json.dumps, documents)))
    store = tmp_path / "models"
    common = [f"--model_store={store}", "--topics=5", "--births=off", "--window=1d"]
    common += [f"--dead_letters={tmp_path / 'dead'}"]
    assert train.main([*common, f"--input={tmp_path / 'first.jsonl'}"]) == 0
    named_and_merged(store)
    digest, before = change(store, "--topic_ids=1", "--topic_name=One")
    resumed = [f"--input={tmp_path / 'both.jsonl'}", "--resume_from=latest"]
    assert train.main([*common, *resumed]) == 0
    assert CatalogueStore(str(store)).latest("") == (digest, before)
    models = ModelStore(str(store))
    newest = models.latest("")
    shown = Shown(before, newest, models.get_snapshot(newest))
    assert shown.names[shown.ids.index(1)] == "One"


def store_words(root):
    """The first words of topic 1, with commas."""
    store = ModelStore(str(root))
    return ",".join(store.get_snapshot(store.latest("")).top_words(2)[1])
