"""Groups of merged topics: everything is the sum over the parts."""

import numpy as np
import pytest
from made import manifest_of, random_snapshot
from reported import TOPICS, mixture_rows, published

from beam_topics.model.publishing.catalogue import Catalogue
from beam_topics.model.reporting.course import calendar_unit, period_start
from beam_topics.model.reporting.figures import Sources, figures_of
from beam_topics.model.reporting.mixtures import Limits, read_mixtures
from beam_topics.model.reporting.shown import Shown

MERGED = Catalogue().merged([1, 3], into=4).with_entries([4], name="four")


def shown_of(catalogue, topics=range(TOPICS), snapshot=None):
    manifest = manifest_of(3, topic_ids=list(topics))
    return Shown(catalogue, manifest, random_snapshot(2) if snapshot is None else snapshot)


def test_groups_are_named_after_their_roots():
    found = shown_of(MERGED)
    assert found.ids == [0, 2, 4] and found.of.tolist() == [0, 2, 1, 2, 2]
    assert found.groups_of([3, 0, 1, 9]) == [2, 0]
    assert found.groups.sums([1.0, 2.0, 3.0, 4.0, 5.0]).tolist() == [1, 3, 11]


def test_without_merges_everything_is_as_it_was():
    snapshot, manifest = random_snapshot(1), manifest_of(1)
    found = shown_of(Catalogue(), snapshot=snapshot)
    assert found.snapshot is snapshot
    assert found.of_version(manifest, snapshot) is snapshot
    values = np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    assert found.groups.sums(values) is values


def test_a_group_has_the_counts_of_its_parts():
    snapshot = random_snapshot(2)
    found = shown_of(MERGED, snapshot=snapshot).snapshot
    rows = np.arange(len(snapshot.words))
    counts = snapshot.rows(rows)
    wanted = np.stack([counts[:, 0], counts[:, 2], counts[:, [1, 3, 4]].sum(axis=1)], axis=1)
    assert np.array_equal(found.rows(rows), wanted)
    assert found.topic_count == 3 and found.totals.sum() == pytest.approx(snapshot.totals.sum())
    # P(w | group) is the mean over its topics, by their pseudo-counts.
    p = (counts + snapshot.prior.shares(rows)) / snapshot.normalisers
    weights = snapshot.normalisers[[1, 3, 4]]
    mean = (p[:, [1, 3, 4]] * weights).sum(axis=1) / weights.sum()
    own = (found.rows(rows) + found.prior.shares(rows)) / found.normalisers
    assert own[:, 2] == pytest.approx(mean, abs=1e-12)


def test_what_came_and_is_new_is_of_groups():
    manifest = manifest_of(
        3, topic_tokens=[1.0, 2.0, 3.0, 4.0, 5.0],
        new_words=[{"topic": t, "words": ["w"], "came": [t], "had": [0]} for t in (0, 1, 2)],
    )  # fmt: skip
    found = shown_of(MERGED)
    came = found.came(manifest)
    assert came.tokens.tolist() == [1, 3, 11] and came.elsewhere == 0
    assert found.new_words(manifest) == [(0, "w", 0, 0), (2, "w", 1, 0), (1, "w", 2, 0)]
    assert found.came(manifest_of(3)) is None


def test_topics_that_died_belong_to_no_group():
    tokens = [1.0, 2.0, 3.0, 4.0, 5.0]
    new = [{"topic": t, "words": ["w"], "came": [1], "had": [0]} for t in (0, 2)]
    manifest, snapshot = manifest_of(3, topic_tokens=tokens, new_words=new), random_snapshot(2)
    found = shown_of(Catalogue().merged([1, 5], into=4), [5, 1, 7, 3, 4], snapshot)
    assert found.ids == [7, 3, 4] and found.of.tolist() == [2, 2, 0, 1, 2]
    assert found.came(manifest).tokens.tolist() == [0, 4, 7]
    assert found.came(manifest).elsewhere == 4
    assert found.new_words(manifest) == [] and found.groups_of([0, 5, 2, 7, 1]) == [2, 0]
    whole, part = found.snapshot, found.of_version(manifest, snapshot)
    rows = np.arange(len(snapshot.words))
    counts = snapshot.rows(rows)
    assert np.array_equal(part.rows(rows)[:, 2], counts[:, [1, 4]].sum(axis=1))
    assert not part.rows(rows)[:, 0].any() and whole.rows(rows)[:, 0].any()
    assert part.totals.sum() == counts[:, [1, 3, 4]].sum()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The figures of a store without a catalogue and with one."""
    store = published(tmp_path_factory.mktemp("store"))
    history, rows = store.manifests(""), mixture_rows(store)
    unit, models = calendar_unit(history), {}
    for manifest in history:
        models[manifest.version] = store.get_snapshot(manifest)
    found = []
    for catalogue in (Catalogue(), MERGED):
        shown = Shown(catalogue, history[-1], models[history[-1].version])
        labelled = read_mixtures(
            lambda: (("here", row) for row in rows),
            set(models),
            range(TOPICS),
            lambda micros: period_start(micros, unit),
            typical=3,
            sample=60,
            groups=shown.groups,
        )
        sources = Sources(history, shown, lambda m: models[m.version], labelled)
        found.append(figures_of(sources, Limits()))
    return found


def sums(values):
    return np.stack([values[..., 0], values[..., 2], values[..., [1, 3, 4]].sum(axis=-1)], axis=-1)


def test_the_shares_of_a_group_are_the_sums(both):
    plain, merged = both
    for name in ("share", "tokens"):
        whole = np.array(plain["topics"][name])
        assert merged["topics"][name] == pytest.approx(sums(whole), abs=1e-12)
    came = sums(np.array(plain["versions"]["came"]))
    assert np.array_equal(np.array(merged["versions"]["came"]), came)
    shares = sums(np.array(plain["labelled"]["shares"]))
    assert np.array(merged["labelled"]["shares"]) == pytest.approx(shares, abs=1e-11)
    assert merged["labelled"]["documents"] == plain["labelled"]["documents"]


def test_the_catalogue_is_in_the_figures(both):
    topics = both[1]["topics"]
    assert topics["id"] == [0, 2, 4] and topics["parts"] == [[0], [2], [1, 3, 4]]
    assert topics["given"] == ["", "", "four"]
    assert both[0]["topics"]["id"] == list(range(5))
    assert all(event["topics"] == [2] for event in both[1]["events"])
    assert [event["line"] for event in both[1]["events"]] == [
        event["line"] for event in both[0]["events"]
    ]
