"""``export``: the forms of a version from the command line; test_exports.py reads them."""

import pytest
from exported import learned

from beam_topics.model.publishing.store import ModelStore
from beam_topics.pipelines import export


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    learned(folder)
    return folder


@pytest.mark.parametrize("form", [*export.FORMS, "gensim"])
def test_every_form_is_written(root, tmp_path, capsys, form):
    if form == "gensim":
        pytest.importorskip("gensim")
    output = tmp_path / "new" / f"beam_topics.model.{form}"
    assert export.main([f"--model_store={root}", f"--format={form}", f"--output={output}"]) == 0
    newest = ModelStore(str(root)).manifest("").version
    told = capsys.readouterr().out
    assert told.startswith(f"version {newest} -> {output} ({form}")
    assert output.stat().st_size > 100


def test_counts_that_are_not_whole_are_rounded_for_mallet(tmp_path, capsys):
    learned(tmp_path / "models", learner="infvoc", births=None)
    given = [f"--model_store={tmp_path / 'models'}", "--format=mallet"]
    assert export.main([*given, f"--output={tmp_path / 'state'}"]) == 0
    assert " tokens are rounded to " in capsys.readouterr().out


def test_an_earlier_version(root, tmp_path):
    first = ModelStore(str(root)).manifests("")[0].version
    written = {}
    for name, flags in (
        ("a", []),
        ("b", [f"--model_version={first}"]),
    ):
        output = tmp_path / name
        flags = [*flags, f"--model_store={root}", "--format=csv", f"--output={output}"]
        assert export.main(flags) == 0
        written[name] = output.read_text()
    assert written["a"] != written["b"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--format=excel"], "--format: 'excel' was given; allowed is one of csv, parquet, "),
        (
            ["--format=csv", "--output="],
            "--output is missing. Give it, for example ",
        ),
        (["--output=x"], "--format is missing. Give it, for example --format=csv;"),
    ],
)
def test_a_wrong_option_is_named(root, capsys, flags, said):
    assert export.main([f"--model_store={root}", "--output=x", *flags]) == 2
    assert f"python -m beam_topics.pipelines.export: {said}" in capsys.readouterr().err


def test_a_file_that_cannot_be_written(root, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    flags = [f"--model_store={root}", "--format=csv", f"--output={tmp_path / 'file' / 'x'}"]
    assert export.main(flags) == 2
    told = capsys.readouterr().err
    assert "cannot be written: " in told and "Errno" not in told
    assert told.endswith(". Give a place that this user may write.\n")
