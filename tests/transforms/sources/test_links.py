import pytest

from model.reading.settings import ReadSettings
from transforms.read import check_patterns
from transforms.sources.links import _warn, dangling_links


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.jsonl").touch()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "a.jsonl")
    for name in ("gone-2.jsonl", "gone-1.jsonl", "gone.csv"):
        (tmp_path / name).symlink_to(tmp_path / "nothing")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "gone.jsonl").symlink_to("itself")
    _warn.cache_clear()
    return tmp_path


@pytest.mark.parametrize(
    ("glob", "names"),
    [
        ("*.jsonl", ["gone-1.jsonl", "gone-2.jsonl"]),
        ("**.jsonl", ["below/gone.jsonl", "gone-1.jsonl", "gone-2.jsonl"]),
        ("gone-[12].jsonl", ["gone-1.jsonl", "gone-2.jsonl"]),
        ("below/", ["below/gone.jsonl"]),
        ("a*", []),
        ("gone-1.jsonl", []),
        ("nowhere/*", []),
    ],
)
def test_links_without_a_target_are_found(folder, glob, names):
    assert dangling_links(f"{folder}/{glob}") == [f"{folder}/{name}" for name in names]


def test_they_are_told_once_with_their_number_and_the_first(folder, caplog):
    pattern = f"{folder}/*.jsonl"
    for _ in range(2):
        assert check_patterns([pattern], ReadSettings()) == [
            f"{folder}/a.jsonl",
            f"{folder}/link.jsonl",
        ]
    (record,) = caplog.records
    said = (
        f"--input: '{pattern}' matches 2 links to files that do not exist; they are left out. The"
        f" first is {folder}/gone-1.jsonl."
    )
    assert (record.levelname, record.getMessage()) == ("WARNING", said)
