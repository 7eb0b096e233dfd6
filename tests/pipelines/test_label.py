"""``label``: the topics of texts, from the command line or from standard input."""

import io

import pytest
from exported import learned

from beam_topics.model.publishing.catalogue import CatalogueStore
from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import label


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    learned(folder)
    return folder


def said(capsys, *argv):
    assert label.main(list(argv)) == 0
    return capsys.readouterr().out.splitlines()


def test_the_topics_of_a_text_with_shares_and_names(root, capsys):
    lines = said(capsys, f"--model_store={root}", "--text=ship harbour storm and zebra")
    head, none = lines[0].split(", no topic explains ")
    assert head == "ship harbour storm and zebra (3 of 4 words known" and len(lines) == 3
    assert 0 < float(none.removesuffix("%)")) < 100
    topics = ModelStore(str(root)).get_snapshot(ModelStore(str(root)).manifest("")).top_words(10)
    share, topic, *name = lines[1].replace(",", "").split()
    assert float(share.rstrip("%")) > 60 and "ship" in topics[int(topic)]
    assert set(name) <= set(topics[int(topic)])


def test_each_line_of_standard_input_is_a_text(root, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("ship harbour\n\ncourt judge\n"))
    lines = said(capsys, f"--model_store={root}")
    assert [line.split(", no topic explains ")[0] for line in (lines[0], lines[3])] == [
        "ship harbour (2 of 2 words known",
        "court judge (2 of 2 words known",
    ]
    assert lines[1].split()[1] != lines[4].split()[1]


def test_a_terminal_is_told_that_it_is_read(root, capsys, monkeypatch):
    typed = io.StringIO("ship\n")
    monkeypatch.setattr(typed, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdin", typed)
    assert label.main([f"--model_store={root}"]) == 0
    told = capsys.readouterr()
    assert "label: each line that you type is a text; Ctrl-D ends them" in told.err
    assert told.out.startswith("ship (1 of 1 words known")


def test_none_is_small_for_texts_of_the_model_and_large_for_mixed_words(root, capsys):
    own, mixed = "ship harbour storm crew " * 4, "ship court " * 8
    lines = said(capsys, f"--model_store={root}", f"--text={own}")
    lines += said(capsys, f"--model_store={root}", f"--text={mixed}")
    few, many = (float(line.split("explains ")[1].removesuffix("%)")) for line in lines[::3])
    assert few < 5 and many > 2 * few


def test_a_text_without_a_known_word_has_no_topic(root, capsys):
    lines = said(capsys, f"--model_store={root}", "--text=zebra", "--text=")
    assert lines == [
        "zebra (0 of 1 words known, no topic explains 100.0%)",
        "  100.0%  none  the model knows none of its words",
        " (0 of 0 words known, no topic explains 100.0%)",
        "  100.0%  none  the model knows none of its words",
    ]


def test_a_text_has_the_same_topics_whatever_is_beside_it(root, capsys):
    alone = said(capsys, f"--model_store={root}", "--text=ship court crew")
    beside = said(capsys, f"--model_store={root}", "--text=judge", "--text=ship court crew")
    assert beside[3:] == alone


def test_given_names_are_shown_and_controls_are_not(root, capsys):
    store = CatalogueStore(str(root))
    store.put("", store.latest("")[1].with_entries([0, 1], name="mine"))
    lines = said(capsys, f"--model_store={root}", "--text=ship \x1b[31m " + "court " * 30)
    assert all(line.endswith("  mine") for line in lines[1:])
    assert "\x1b" not in lines[0] and "..." in lines[0]


def test_a_method_that_needs_more_is_refused(root, capsys):
    assert label.main([f"--model_store={root}", "--text=ship", "--method=maxent"]) == 2
    assert capsys.readouterr().err == (
        "python -m beam_topics.pipelines.label: --method: 'maxent' was given; allowed is a method"
        " that labels one text by the model alone. Use gibbs3.\n"
    )
