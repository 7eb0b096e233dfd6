import pytest

from model.reading.hints import (
    likely_id,
    likely_text,
    likely_time,
    likely_year,
    listed,
    time_remedy,
)


def test_the_likely_text_is_the_longest_with_a_space_in_it():
    assert (
        likely_text(
            {
                "url": "http://a.example/long/and/longer/yet",
                "title": "A ship",
                "body": "A ship came in",
            }
        )
        == "body"
    )
    assert likely_text({"a": "word", "b": 7, "c": ["a b"], "d": None}) is None


@pytest.mark.parametrize("value", [2013, 2013.0, "2013"])
def test_a_year_is_named_with_its_unit(value):
    remedy = time_remedy({"id": 7, "Year": value})
    assert remedy == (
        "Is it --timestamp_field=Year --timestamp_unit=year? Files without times:"
        " --time_from=order."
    )


def test_the_likely_year():
    assert likely_year({"midyear": 2013, "year": "MMXIII", "pub_year": 2013}) == "pub_year"
    assert likely_year({"year": None, "leap_year": True}) is None
    assert "--timestamp_field=date?" in time_remedy({"year": 2013, "date": "2013-05-01"})


def test_the_likely_time_has_a_name_or_the_form_of_one():
    assert (
        likely_time({"id": 7, "created_utc": 980942400, "published": "2001-01-31"}) == "created_utc"
    )
    assert likely_time({"id": "2001", "when": "2001-01-31T12:00:00Z"}) == "when"
    assert likely_time({"date": "01/31/2001", "updated_at": "980942400"}) == "updated_at"
    assert (
        likely_time(
            {
                "count": 980942400,
                "title": "2001-01-31 was a day like all others in that month of January",
            }
        )
        is None
    )


def test_the_likely_id_is_named_like_one():
    assert likely_id({"idea": "x", "paper_id": "a"}) == "paper_id"
    assert [likely_id({name: 1}) for name in ("_id", "docId", "url", "guid", "doi")] == [
        "_id",
        "docId",
        "url",
        "guid",
        "doi",
    ]
    assert [likely_id({name: "a"}) for name in ("valid", "paid", "grid")] == [None] * 3
    assert likely_id({"id": "", "uid": 1.5, "url": True}) is None


def test_many_and_long_names_are_cut():
    text = listed([f"n{number}" for number in range(14)])
    assert text.endswith("'n11' and 2 more") and "'n12'" not in text
    assert listed(["x" * 100, 7]) == f"'{'x' * 40}', '7'"
