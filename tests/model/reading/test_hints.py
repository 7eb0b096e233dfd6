import pytest

from model.reading.found_forms import (
    likely_id,
    likely_text,
    likely_time,
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
        "Is it --timestamp_field=Year --timestamp_format=year? Files without times:"
        " --time_from=order."
    )


def test_the_likely_time_has_the_form_of_one_and_first_its_name():
    record = {"id": 7, "created_utc": 980942400, "published": "2001-01-31"}
    assert likely_time(record) == ("created_utc", "s")
    assert likely_time({"id": "2001", "when": "2001-01-31T12:00:00Z"}) == ("when", "iso")
    assert likely_time({"x": "2001-01-31", "date": "01/31/2001"}) == ("date", "%m/%d/%Y")
    assert likely_time({"midyear": 13, "year": "MMXIII", "pub_year": 2013}) == ("pub_year", "year")
    text = "2001-01-31 was a day like all others in that month of January"
    assert likely_time({"count": 980942400, "title": text, "leap_year": True}) is None


def test_the_form_of_a_likely_time_is_named():
    assert time_remedy({"Datum": "31.01.2001"}).startswith(
        "Is it --timestamp_field=Datum --timestamp_format=%d.%m.%Y?"
    )
    assert time_remedy({"date": "2013-05-01"}).startswith("Is it --timestamp_field=date?")


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
