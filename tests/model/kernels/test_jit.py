import numba
import pytest

from beam_topics.model.kernels import jit
from beam_topics.model.kernels.jit import cache_folder, kernel, remove_stale_caches


@pytest.fixture
def sources(tmp_path):
    for room in ("kernels", "learners/kernels", "learners/kernels/history"):
        (tmp_path / room).mkdir(parents=True)
        (tmp_path / room / "rows.py").write_text("SHIFT = 6\n")
    return tmp_path


def test_a_change_in_any_kernel_takes_a_new_folder(sources):
    before = cache_folder(sources)
    assert before == cache_folder(sources)
    (sources / "learners" / "kernels" / "rows.py").write_text("SHIFT = 4\n")
    after = cache_folder(sources)
    assert after != before
    (sources / "learners" / "kernels" / "history" / "rows.py").write_text("SHIFT = 4\n")
    assert cache_folder(sources) not in (before, after)


def test_the_folder_that_numba_is_given_comes_first(sources, tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "given"))
    assert cache_folder(sources).parent == tmp_path / "given"


def test_a_folder_that_cannot_be_made_is_passed_over(sources, tmp_path, monkeypatch):
    (sources / "kernels" / "__pycache__").write_text("a file is in the way")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert tmp_path / "home" in cache_folder(sources).parents


def test_decorating_leaves_numbas_own_setting_alone():
    before = numba.config.CACHE_DIR
    kernel(lambda x: x + 1)
    assert before == numba.config.CACHE_DIR


def test_folders_of_other_contents_are_removed_and_ours_stays(sources, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("HOME", str(sources / "home"))
    ours = cache_folder(sources)
    (sources / "kernels" / "rows.py").write_text("SHIFT = 4\n")
    older = cache_folder(sources)
    monkeypatch.setattr(jit, "_ROOT", sources)
    monkeypatch.setattr(jit, "FOLDER", str(ours))
    assert remove_stale_caches() == [older]
    assert ours.exists()
    assert not older.exists()
