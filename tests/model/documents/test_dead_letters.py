import json

from hypothesis import given, settings
from hypothesis import strategies as st

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import DeadLetter, Document

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
WORD = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\n"), min_size=1, max_size=9
)


def test_dead_letters_have_one_spelling():
    assert (
        DeadLetter("s", "r", "d", "é").as_json()
        == '{"detail":"d","reason":"r","record":"é","source":"s"}'
    )


@settings(max_examples=80)
@given(TEXT, TEXT, st.none() | TEXT, WORD)
def test_a_document_has_its_fields_and_as_many_words_as_there_is_room_for(name, key, label, word):
    def fields(repeats):
        document = Block.of_words([Document(name, 0, "", label, key)], [[word] * repeats])
        letter = document.dead_letter(0, "here", "why", "because")
        assert (letter.source, letter.reason, letter.detail) == ("here", "why", "because")
        found = json.loads(letter.record)
        assert (found["id"], found["key"], found["label"]) == (name, key, label)
        return letter.record, found["words"]

    assert fields(3)[1] == " ".join([word] * 3)
    record, words = fields(3000)
    assert " ".join([word] * 3000).startswith(words)
    assert DeadLetter.RECORD_CHARACTERS - 80 < len(record) <= DeadLetter.RECORD_CHARACTERS


def test_an_endless_id_is_cut():
    document = Block.of_words([Document("i" * 5000, 0, "", None, "")], [["sea"]])
    assert (
        len(document.dead_letter(0, "here", "why", "because").record)
        == DeadLetter.RECORD_CHARACTERS
    )
