"""YAML of options and seeds: what is read, and what is refused without reading on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beam_topics.model.errors import OptionError
from beam_topics.pipelines.cli.option_files import mapping_of


def read(text):
    return mapping_of(text, "--seeds", "x.yaml", "names and words")


def test_every_scalar_is_text():
    assert read("a: no\n1: [0x10, 2001-01-31, ~]\nb:\n- x\nc: {d: 1:30}") == {
        "a": "no",
        "1": ["0x10", "2001-01-31", "~"],
        "b": ["x"],
        "c": {"d": "1:30"},
    }


LAUGHS = "a: &a [x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, r"Line 2: write the value in place of the alias \*a\."),
        ("a: [x]\nb: &b [*b]", r"Line 2: write the value in place of the alias \*b\."),
        ("a: " + "[" * 100_000, "nesting depth|values nest deeper than 8 levels"),
        ("a:\n" + "".join(" " * n + "b:\n" for n in range(1, 5000)), "Line 9: values nest deeper"),
        ("- " * 100_000, "nesting depth|nest deeper than 8 levels"),
        ("a: x\nb: y\na: z", "Line 3: 'a' is there twice. Leave one of the two out"),
        ("a: {b: x, b: y}", "Line 1: 'b' is there twice"),
        ("? [a]\n: x", "Line 1: a name is a list or a mapping. Write it as text"),
        ("a: x\n---\nb: y", "Line 2: a second document begins"),
        ("a: [x\n", "It is not YAML"),
        ("- x", "Correct the file"),
        ("", "Correct the file"),
    ],
)
def test_other_files_are_refused(text, message):
    with pytest.raises(OptionError, match=message):
        read(text)


@given(st.text(st.sampled_from("ab:-[]{},&*?!|>'\"#%@ \n\t"), max_size=60))
def test_any_text_is_a_mapping_or_refused(text):
    try:
        assert isinstance(read(text), dict)
    except OptionError as error:
        assert "x.yaml" in str(error)
