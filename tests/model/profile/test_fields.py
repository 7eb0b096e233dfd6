"""Fields below the top level of records, and which of them is the text."""

import pytest

from beam_topics.model.profile.fields import fields_of, roles_of
from beam_topics.model.reading.settings import FieldNames


def text(n, words=14):
    return " ".join(f"word{(n * 7 + k * 3) % 50:02}" for k in range(words))


def day(n):
    return f"2024-{1 + n // 28:02}-{1 + n % 28:02}"


def found_in(make, count=60, given=()):
    records = [make(n) for n in range(count)]
    return roles_of(fields_of(records, {}), records, FieldNames(), given)


def test_texts_times_and_ids_are_found_below_the_top_level():
    found = found_in(
        lambda n: {
            "_index": "posts",
            "_source": {"key": f"{n:020x}", "text": text(n), "at": day(n), "kind": "a b c d"},
            "other": {"id": n, "at": day(n)},
        }
    )
    assert not found.questions
    assert found.options == {
        "text_field": "_source.text",
        "timestamp_field": "_source.at",
        "id_field": "_source.key",
    }


def test_times_and_ids_of_the_outermost_record_come_first():
    found = found_in(
        lambda n: {
            "id": n,
            "created": day(n),
            "payload": {"id": n, "body": text(n), "updated": day(n)},
        }
    )
    assert found.options == {"text_field": "payload.body", "timestamp_field": "created"}


def test_several_long_texts_below_the_top_level_are_asked_for():
    def event(n):
        return {"id": n, "payload": {("comment", "review")[n % 2]: {"body": text(n)}}}

    (question,) = found_in(event).questions
    assert question.text == (
        "the text may be in 'payload.comment.body', 'payload.review.body'. 50% of the records lack"
        " one of them."
    )
    assert question.choices == (
        "--text_field=payload.comment.body,payload.review.body",
        "--text_field=payload.comment.body",
        "--text_field=payload.review.body",
    )


def test_a_choice_learns_at_least_half_of_the_records():
    def event(n):
        kind = ("comment", "review", "commit", "other")[n % 4]
        return {"id": n, "payload": {kind: {"body": text(n, 4 if kind == "commit" else 20)}}}

    (question,) = found_in(lambda n: event(n) if n % 4 < 3 else {"id": n}).questions
    assert question.choices == (
        "--text_field=payload.comment.body,payload.review.body,payload.commit.body",
        "--text_field=payload.comment.body,payload.review.body",
    )


def test_the_elements_of_an_array_are_documents_or_one_text():
    (pieces,) = found_in(
        lambda n: {"id": n, "body": [{"text": text(n + k)} for k in range(3)]}
    ).questions
    assert pieces.choices == ("--text_field='body[].text'", "--records=body")
    assert pieces.settles == ("text_field", "records")
    assert pieces.text == (
        "the text 'body[].text' is in an array: its elements are documents, or one text."
    )
    (pages,) = found_in(
        lambda n: {"data": [{"id": k, "at": day(n), "text": text(n + k)} for k in range(3)]}
    ).questions
    assert pages.choices == ("--records=data", "--text_field='data[].text'")


def test_an_array_of_texts_is_one_text():
    found = found_in(lambda n: {"id": n, "paragraphs": [text(n + k) for k in range(3)]})
    assert found.options["text_field"] == "paragraphs[]" and not found.questions


NO_TEXTS = {
    "class": lambda n: f"one of the five kinds number {'abcde'[n % 5]}",
    "name": lambda n: f"Ann{n} Smith",
    "digest": lambda n: f"{n * 7919:040x}",
    "address": lambda n: f"https://example.org/a/{n}",
    "id": lambda n: f"doc-{n:08}",
}


@pytest.mark.parametrize("kind", NO_TEXTS)
@pytest.mark.parametrize("nested", [False, True])
def test_a_class_a_name_a_digest_an_address_or_an_id_is_no_text(kind, nested):
    def record(n):
        value = NO_TEXTS[kind](n)
        return {"n": 7, "payload": {"it": value}} if nested else {"n": 7, "it": value}

    found = found_in(record)
    assert "text_field" not in found.options and "text" not in found.roles.values()
    (question,) = found.questions
    assert question.text.startswith(
        "no field holds texts for sure (several words, mostly different)"
    )
    offered = (f"--text_field={'payload.' * nested}it",) if kind in ("class", "name") else ()
    assert question.choices == offered
    assert offered or str(question) == question.text


def test_values_in_an_array_are_judged_one_by_one():
    def page(n):
        return {"id": n, "data": [{"lang": "en", "app": "written with a phone"} for _ in range(9)]}

    assert found_in(page).questions[0].text.startswith("no field holds texts")
