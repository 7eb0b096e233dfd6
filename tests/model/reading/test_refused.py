from beam_topics.model.documents.document import DeadLetter
from beam_topics.model.reading.refused import Example, refused


def letter(source, reason="not_json", detail="it is not JSON", record="{"):
    return DeadLetter(source, reason, detail, record)


def example(*args, **others):
    return Example.of(letter(*args, **others)).to_json()


def report(examples=(), **counted):
    return refused(counted, examples)


def test_nothing_was_refused():
    assert report() is None
    assert report(records_read=5) is None
    assert report(dead_not_json=5) is None


def test_less_than_half_used_is_a_failure_and_half_is_none():
    assert not report(records_read=4, dead_not_json=2).is_failure
    assert report(records_read=5, dead_not_json=2, dead_repeated_id=1).is_failure
    assert report(records_read=1, dead_not_json=1).is_failure


def test_documents_of_other_keys_count_only_where_there_are_no_others():
    """A program for one model of many is asked to leave out the documents of all other keys."""
    assert not report(records_read=100, dead_unknown_key=99).is_failure
    found = report(records_read=100, dead_unknown_key=100)
    assert found.is_failure and (found.used, found.reason) == (0, "unknown_key")
    assert report(records_read=100, dead_unknown_key=60, dead_not_json=40).is_failure


def test_documents_without_a_model_yet_were_learned_all_the_same():
    assert report(records_read=10, dead_no_model=10) is None


def test_the_most_frequent_reason_and_its_first_example():
    examples = [
        example("b.jsonl:1"),
        example("a.jsonl:10"),
        example("a.jsonl:9"),
        example("a.jsonl:1", reason="missing_text"),
    ]
    found = report(examples, records_read=10, dead_not_json=5, dead_missing_text=4)
    assert (found.share, found.reason, found.count, found.example.source) == (
        "9 of 10",
        "not_json",
        5,
        "a.jsonl:9",
    )
    assert found == report(
        reversed(examples), records_read=10, dead_not_json=5, dead_missing_text=4
    )
    tied = report(examples, records_read=10, dead_not_json=5, dead_missing_text=5)
    assert tied.reason == "missing_text"
    assert report(records_read=1, dead_not_json=1).example is None


def test_places_are_in_the_order_of_their_numbers():
    places = ["a block 2 record 10", "a block 10 record 2", "a block 2 record 9", "7", "", "a2"]
    ordered = sorted((Example.of(letter(place)) for place in places), key=Example.order)
    assert [item.source for item in ordered] == [
        "",
        "7",
        "a2",
        "a block 2 record 9",
        "a block 2 record 10",
        "a block 10 record 2",
    ]


def test_an_example_is_cut_and_keeps_its_place():
    made = Example.of(letter("x" * 1000 + ".jsonl:17", detail="d" * 1000, record="r" * 1000))
    assert made.source.endswith("x.jsonl:17")
    assert len(made.to_json()) < 1200
    assert made.record.endswith("r...")
    assert Example.from_json(made.to_json()) == made
