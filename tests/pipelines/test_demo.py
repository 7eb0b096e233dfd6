import pytest

from model.errors import OptionError
from pipelines import demo


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
