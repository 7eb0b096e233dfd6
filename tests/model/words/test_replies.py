"""Quoted replies and signatures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.words.cleaning import without_quotes, without_signature


def left_of(text, function):
    return " ".join(function(text).split())


@pytest.mark.parametrize(
    "quoted",
    [
        "> old\n>> older",
        "|> old",
        "JD> old",
        "On Mon, 1 Jan 2024 at 10:00, Bob <b@x.org> wrote:\n> old",
        "On Mon, Jan 1, 2024 at 10:00 AM Bob <\nb@x.org> wrote:\n\n> old\n",
        "In article <1993.1@x.org> bob@x.org (Bob) writes:\n>old",
        "Bob said:\n\n> old",
        "Am 01.02.2024 um 10:00 schrieb Bob:\n> alt",
        "Le 1 janv. 2024 à 10:00, Bob a écrit :\n> vieux",
        "El 1 ene 2024, Bob escribió:\n> viejo",
    ],
)
def test_quoted_lines_go_with_the_line_that_introduces_them(quoted):
    assert left_of(f"Hello.\n{quoted}\nNew words.", without_quotes) == "Hello. New words."


@pytest.mark.parametrize(
    "quoted",
    [
        "-----Original Message-----\nFrom: A\n\nold",
        "-----Ursprüngliche Nachricht-----\nVon: A\n\nalt",
        "-------- Mensaje original --------\nviejo",
        "From: A\nSent: Monday\nTo: B\nSubject: x\n\nold",
        "Von: A\nGesendet: Montag\nAn: B\nCc: C\nBetreff: x\n\nalt",
        "De : A\nEnvoyé : lundi\nÀ : B\nObjet : x\n\nvieux",
        "On Mon, 1 Jan 2024, Bob wrote:\n\nold without a mark",
    ],
)
def test_the_rest_goes_where_it_is_the_old_mail(quoted):
    assert left_of(f"New words.\n\n{quoted}\nmore", without_quotes) == "New words."


@pytest.mark.parametrize(
    "text",
    [
        "On the other hand he wrote:\nall is well",
        "a > b, and b > c",
        "> only a quote",
        "-----Original Message-----\nFrom: A\n\nonly the old one",
        "From: here\nto there",
    ],
)
def test_other_texts_keep_their_lines(text):
    assert without_quotes(text) == text


@pytest.mark.parametrize(
    "signature",
    [
        "-- \nBob\n+49 1",
        "--\nBob",
        "_______________________________________________\nList mailing list\nhttps://x.org",
        "Best regards,\n\nBob\nHead of Ships",
        "Mit freundlichen Grüßen\nBob",
        "Cordialement,\nBob",
        "Thanks!\nBob",
        "Sent from my phone",
    ],
)
def test_signatures_go(signature):
    assert left_of(f"The harbour\nis open.\n{signature}\n\n", without_signature) == (
        "The harbour is open."
    )


@pytest.mark.parametrize(
    "text",
    [
        "one\n--\n" + "a line\n" * 13,
        "thanks for all the fish\nand more",
        "Thanks,\n" + "a long line of a text " * 4,
        "-- \nBob",
        "Thanks,\nBob",
        "one -- two",
    ],
)
def test_texts_without_a_signature_stay(text):
    assert without_signature(text) == text


@given(st.text("On1 wrote:\n>|-_ab@,", max_size=120))
def test_nothing_is_added_and_something_stays(text):
    for function in (without_quotes, without_signature):
        left = function(text)
        assert len(left) <= len(text) and bool(left.strip()) == bool(text.strip())
