"""Catalogues: entries, merges of merged topics, storage, conflicts, damage."""

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.errors import DamagedDataError, OptionError, StoreConflictError
from beam_topics.model.publishing.catalogue import Catalogue, CatalogueStore, Entry
from beam_topics.model.stored.wire import seal

MERGES = st.lists(st.tuples(st.sets(st.integers(0, 7), min_size=1), st.integers(0, 7)), max_size=6)


def merged(*steps):
    found = Catalogue()
    for topics, into in steps:
        found = found.merged(topics, into)
    return found


def test_entries_are_changed_field_by_field():
    found = Catalogue().with_entries([1, 2], name="a").with_entries([2], hidden=True)
    assert found.of(1) == Entry("a") and found.of(2) == Entry("a", hidden=True)
    assert found.of(3) == Entry() and found.names() == {1: "a", 2: "a"}


def test_a_merge_of_merged_topics_has_one_root():
    assert merged(([1, 2], 3), ([3], 0)).roots(range(5)) == [0, 0, 0, 0, 4]
    assert merged(([3], 0), ([1, 2], 3)).roots(range(5)) == [0, 0, 0, 0, 4]


def test_a_topic_that_is_merged_into_itself_is_taken_apart():
    assert merged(([1, 2], 0), ([2], 2)).roots(range(3)) == [0, 0, 2]


def test_a_root_that_is_merged_into_its_own_part_stays_the_root():
    assert merged(([1], 0), ([0], 1)).roots(range(2)) == [0, 0]


@given(MERGES)
def test_after_any_merges_the_stored_form_is_valid_and_topics_are_together(steps):
    found = merged(*steps)
    assert Catalogue.from_bytes(found.to_bytes()).roots(range(8)) == found.roots(range(8))
    for root in found.roots(range(8)):
        assert found.roots(range(8))[root] == root
    if steps:
        topics, into = steps[-1]
        assert {found.roots(range(8))[z] for z in topics} == {found.roots(range(8))[into]}


def test_a_topic_that_is_not_there_any_more_is_passed_over():
    assert merged(([1, 9], 8)).roots(range(3)) == [0, 1, 2]
    assert merged(([9], 1)).roots(range(3)) == [0, 1, 2]


def test_a_long_name_is_refused():
    Catalogue().with_entries([0], name="x" * 200)
    with pytest.raises(OptionError, match="--topic_name: .* at most 200 characters"):
        Catalogue().with_entries([0], name="x" * 201)


def test_the_store_keeps_every_catalogue(tmp_path):
    store = CatalogueStore(str(tmp_path))
    assert store.latest("k") == (None, Catalogue()) and store.history("k") == []
    digests = []
    for name in ("a", "b", "c"):
        _, newest = store.latest("k")
        digests.append(store.put("k", newest.with_entries([1], name=name)))
    assert store.history("k") == digests[::-1]
    assert [store.get("k", d).names()[1] for d in digests] == ["a", "b", "c"]
    assert store.latest("other") == (None, Catalogue())


def test_a_catalogue_that_is_rolled_back_twice_has_a_history_without_an_end_in_itself(tmp_path):
    store = CatalogueStore(str(tmp_path))
    first = store.put("", Catalogue().with_entries([1], name="a"))
    store.put("", Catalogue().with_entries([1], name="b"))
    store.put("", store.get("", first))
    assert store.latest("")[1].names() == {1: "a"} and len(store.history("")) == 3


def test_of_two_writers_one_succeeds(tmp_path, monkeypatch):
    stores = [CatalogueStore(str(tmp_path)) for _ in range(2)]
    barrier, outcomes = threading.Barrier(2), []
    read = CatalogueStore._pointer

    def together(store, key):
        found = read(store, key)
        if not outcomes and threading.current_thread() is not threading.main_thread():
            barrier.wait(50)
        return found

    monkeypatch.setattr(CatalogueStore, "_pointer", together)

    def write(store, name):
        try:
            outcomes.append(store.put("", Catalogue().with_entries([0], name=name)))
        except StoreConflictError as error:
            outcomes.append(str(error))

    threads = [
        threading.Thread(target=write, args=(store, name))
        for store, name in zip(stores, "ab", strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lost = [one for one in outcomes if "was changed meanwhile. Run again." in one]
    assert len(outcomes) == 2 and len(lost) == 1


def sealed(entries, parent=None):
    return seal({"parent": parent, "entries": entries})


def entry(**fields):
    return {"name": "", "hidden": False, "merged": None, **fields}


@pytest.mark.parametrize(
    "data",
    [
        sealed([]),
        sealed({"x": entry()}),
        sealed({"9" * 5000: entry()}),
        sealed({"-1": entry()}),
        sealed({"1": entry(name=3)}),
        sealed({"1": entry(merged=1)}),
        sealed({"1": entry(merged=-1)}),
        sealed({"1": entry(merged=2), "2": entry(merged=3)}),
        sealed({}, parent="x"),
        seal({"entries": {}}),
        b"{}",
        b"oops",
    ],
)
def test_damage_is_told(data):
    with pytest.raises(DamagedDataError):
        Catalogue.from_bytes(data)


def test_a_field_of_another_release_is_ignored():
    assert Catalogue.from_bytes(sealed({"1": entry(name="a", shape="round")})).names() == {1: "a"}


def test_a_changed_file_is_refused(tmp_path):
    store = CatalogueStore(str(tmp_path))
    digest = store.put("", Catalogue().with_entries([0], name="a"))
    path = Path(tmp_path, "_", "catalogue", f"{digest}.json")
    values = json.loads(path.read_bytes())
    del values["sha256"]
    values["entries"]["0"]["name"] = "b"
    path.write_bytes(seal(values))
    with pytest.raises(DamagedDataError, match="do not have the digest"):
        store.latest("")


def test_automatic_names_leave_those_that_people_gave():
    found = Catalogue().with_entries([1], name="mine").with_automatic({0: "a", 1: "b", 2: "c"})
    assert found.names() == {0: "a", 1: "mine", 2: "c"}
    again = found.with_entries([2], name="ours", automatic=False).with_automatic({0: "d", 2: "e"})
    assert again.names() == {0: "d", 1: "mine", 2: "ours"}
    assert Catalogue.from_bytes(again.to_bytes()) == again
