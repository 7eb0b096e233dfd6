import numpy as np

from beam_topics.model.documents.document import DeadLetter, Document
from beam_topics.model.reporting.encoding import Mixture, document_digest
from beam_topics.model.reporting.mixtures import Limits, Text, shortened, title_of, with_documents


def test_the_wanted_texts_are_found_and_cut():
    items = [
        Document(id="a", timestamp=1, text="Title\n\n" + "long " * 1000, label="l"),
        DeadLetter("s", "r", "d", ""),
        Document(id="b", timestamp=1, text="not wanted"),
        Document(id="a", timestamp=2, text="another time"),
        Document(id="a", timestamp=1, text="again"),
    ]
    mixture = Mixture("a", 1, "v", np.ones(1), 1, 1, document_digest("", "a", 1))
    ((wanted, document),) = with_documents([mixture], items)
    found = Text.of(document, Limits(text=50))
    assert wanted is mixture and found.title == "Title" and found.label == "l"
    assert found.text.endswith("… (5,006 characters)") and len(found.text) < 80


def test_a_title_is_the_first_line_or_how_a_text_begins():
    assert title_of("") == "" == title_of(" \n ")
    assert title_of("One  two\nthree") == "One two"
    assert title_of("x" * 500) == "x" * 120 + " …"
    assert len(title_of("word " * 100)) <= 122


def test_a_short_text_is_not_cut():
    assert shortened("abc", 3) == "abc"
