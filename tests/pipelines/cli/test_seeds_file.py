"""``--seeds``: what a YAML file of topics may hold."""

import pytest

from beam_topics.model.errors import OptionError
from beam_topics.model.words.settings import TokeniserSettings
from beam_topics.model.words.tokeniser import Tokeniser
from beam_topics.pipelines.cli.groups import Options
from beam_topics.pipelines.cli.option_files import lines_of_text, words_of

TOKENISER = Tokeniser(TokeniserSettings())


def lines(text):
    return lines_of_text(text, "--seeds", "seeds.yaml", TOKENISER)


def test_names_with_lists_or_texts_are_lines_in_their_order():
    found = lines("Space flight: [NASA, Orbit]\nhockey: goal team\n1984: [newspeak]")
    assert found == ("Space flight: nasa orbit", "hockey: goal team", "1984: newspeak")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- nasa", "maps names of topics to words"),
        ("", "maps names of topics to words"),
        ("space: []", "'space: ..' was given; .* Correct the entry"),
        ("space: {nasa: 1}", "Correct the entry"),
        ("space: [[nasa]]", "Correct the entry"),
        ("space: [nasa\n", "It is not YAML"),
        ("'a: b': nasa", "names of one line without a colon"),
        ("space: [York city]", "It returns 'york' and 'city'"),
        ("space: [the]", "returns as one word. It returns nothing"),
    ],
)
def test_other_files_are_refused(text, message):
    with pytest.raises(OptionError, match=message):
        lines(text)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(OptionError, match="--seeds: .* It cannot be read"):
        words_of("seeds", str(tmp_path / "none.yaml"), "seeds", Options())
