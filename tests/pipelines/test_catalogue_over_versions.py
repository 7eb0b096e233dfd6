"""A catalogue lies over ten versions, a resumed run, and a topic that dies; sums are exact."""

import json
from dataclasses import replace

import numpy as np
import pytest
from reported import published

from model.publishing.catalogue import CatalogueStore
from model.publishing.store import ModelStore
from model.reporting.merging import Grouping
from model.reporting.relevance import topic_shares
from model.reporting.shown import shown_of
from pipelines import topics, train

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = tuple(f"word{n}" for n in range(40))


def change(store, *options):
    assert topics.main([f"--model_store={store}", *options]) == 0
    return CatalogueStore(str(store)).latest("")


def named_and_merged(store):
    """A merge of merged topics, and names: 4 is a part of 3, which is merged into 0."""
    change(store, "--topic_ids=0", "--topic_name=Zero", "--topic_colour=#112233")
    change(store, "--topic_ids=4", "--merge_into=3")
    return change(store, "--topic_ids=3", "--merge_into=0")


def test_it_holds_for_ten_versions_and_every_one_of_its_own_can_be_rolled_back_to(tmp_path):
    store = published(tmp_path / "models", versions=10, words=WORDS)
    named_and_merged(store.root)
    catalogues = CatalogueStore(store.root)
    for manifest in store.manifests(""):
        catalogue = catalogues.latest(manifest.key)[1]
        snapshot = store.get_snapshot(manifest)
        grouping = Grouping(catalogue, range(snapshot.topic_count))
        assert grouping.ids == [0, 1, 2] and catalogue.of(0).name == "Zero"
        shares = topic_shares(snapshot)
        # To the last digit: the same sum in the order of topics.
        assert grouping.sums(shares)[0] == shares[0] + shares[3] + shares[4]
        assert grouping.snapshot(snapshot).totals[0] == snapshot.totals[[0, 3, 4]].sum()
    for digest in catalogues.history(""):
        found = change(store.root, f"--roll_back={digest[:12]}")[1]
        assert found.entries == catalogues.get("", digest).entries


def split_and_merged(store):
    """-1 is split off 0, -2 and -3 off 4; 4 and -2 are merged into 3, and this into -1."""
    change(store, "--topic_ids=0", "--split_words=word1,word2", "--topic_name=Part")
    change(store, "--topic_ids=4", "--split_words=word5")
    change(store, "--topic_ids=4", "--split_words=word7,word6")
    change(store, "--topic_ids=4,-2", "--merge_into=3")
    return change(store, "--topic_ids=3", "--merge_into=-1")


def held(snapshot, words, topic):
    """The counts of some words in a topic, and P(w | z) of all of them."""
    rows = np.array([snapshot.numbers[word] for word in words])
    counts, prior = snapshot.rows(rows)[:, topic], snapshot.prior.shares(rows)[:, topic]
    return counts.sum(), (counts + prior).sum() / snapshot.normalisers[topic]


def test_parts_hold_for_ten_versions_and_every_catalogue_can_be_rolled_back_to(tmp_path):
    store = published(tmp_path / "models", versions=10, words=WORDS)
    split_and_merged(store.root)
    catalogues = CatalogueStore(store.root)
    shares = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    for manifest in store.manifests(""):
        snapshot = store.get_snapshot(manifest)
        shown = shown_of(catalogues.latest("")[1], manifest, snapshot)
        assert shown.ids == [0, 1, 2, -1, -3] and shown.names[3] == "Part"
        first, f = held(snapshot, ["word1", "word2"], 0)
        third, h = held(snapshot, ["word7", "word6"], 4)
        totals = snapshot.totals
        assert shown.snapshot.totals == pytest.approx(
            [totals[0] - first, totals[1], totals[2], totals[3] + totals[4] - third + first, third]
        )
        moved = [0.1 * (1 - f), 0.2, 0.3, 0.15 + 0.25 * (1 - h) + 0.1 * f, 0.25 * h]
        assert shown.grouping.sums(shares) == pytest.approx(moved, abs=1e-12)
    history = catalogues.history("")
    assert len(history) == 5
    for digest in history:
        found = change(store.root, f"--roll_back={digest[:12]}")[1]
        assert found.entries == catalogues.get("", digest).entries
        shown = shown_of(found, manifest, snapshot)
        assert shown.grouping.sums(shares).sum() == pytest.approx(1.0, abs=1e-12)
        # Ids of parts are never used twice.
        assert found.made == 3
    assert change(store.root, "--topic_ids=1", "--split_words=word9")[1].of(-4).split == 1


def test_a_part_of_a_topic_that_dies_is_not_shown(tmp_path):
    """Another topic takes the place of topic 4; its parts and what was merged into them stay."""
    store = published(tmp_path / "models", versions=2, words=WORDS)
    split_and_merged(store.root)
    manifest, catalogue = store.latest(""), CatalogueStore(store.root).latest("")[1]
    snapshot = store.get_snapshot(manifest)
    later = replace(manifest, topic_ids=[0, 1, 2, 3, 9])
    shown = shown_of(catalogue, later, snapshot)
    # The root -1 and topic 3 are there; the topics 4, -2 and -3 are not, and 9 has no entry.
    assert shown.ids == [0, 1, 2, 9, -1]
    assert shown.grouping.parts() == [[0], [1], [2], [9], [3, -1]]
    assert shown.grouping.sums(np.full(5, 0.2)).sum() == pytest.approx(1.0, abs=1e-12)
    # Where topic 0 dies, the root of the group is gone: its topics are shown as themselves.
    orphans = shown_of(catalogue, replace(manifest, topic_ids=[5, 1, 2, 3, 4]), snapshot)
    assert orphans.ids == [5, 1, 2, 3, 4, -2, -3]
    assert orphans.grouping.sums(np.full(5, 0.2)).sum() == pytest.approx(1.0, abs=1e-12)


def test_a_topic_that_dies_keeps_its_entry_and_has_no_share(tmp_path):
    store = published(tmp_path / "models", versions=2, words=WORDS)
    named_and_merged(store.root)
    snapshot = store.get_snapshot(store.latest(""))
    dense = snapshot.rows(np.arange(len(WORDS)))
    dense[:, 3] = 0
    names = ("key", "sequence", "event_time", "fingerprint", "alpha", "prior", "words")
    dead = type(snapshot).from_dense(dense, **{name: getattr(snapshot, name) for name in names})
    catalogue = CatalogueStore(store.root).latest("")[1]
    shares = topic_shares(dead)
    assert shares[3] == 0
    assert Grouping(catalogue, range(5)).sums(shares)[0] == shares[0] + shares[4]
    # Fewer topics: the entries of those that are gone are passed over.
    assert Grouping(catalogue, range(3)).ids == [0, 1, 2]


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
    common = [f"--model_store={store}", "--topics=5", "--particles=1", "--window=1d"]
    common += [f"--dead_letters={tmp_path / 'dead'}"]
    assert train.main([*common, f"--input={tmp_path / 'first.jsonl'}"]) == 0
    named_and_merged(store)
    words = store_words(store)
    digest, before = change(store, "--topic_ids=1", f"--split_words={words}")
    resumed = [f"--input={tmp_path / 'both.jsonl'}", "--resume_from=latest"]
    assert train.main([*common, *resumed]) == 0
    assert CatalogueStore(str(store)).latest("") == (digest, before)
    models = ModelStore(str(store))
    newest = models.latest("")
    shown = shown_of(before, newest, models.get_snapshot(newest))
    assert -1 in shown.ids and set(words.split(",")) == set(before.of(-1).words)


def store_words(root):
    """The first words of topic 1, with commas."""
    store = ModelStore(str(root))
    return ",".join(store.get_snapshot(store.latest("")).top_words(2)[1])
