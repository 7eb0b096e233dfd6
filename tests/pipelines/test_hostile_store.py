"""What commands say of a model store that somebody changed: one line, status 2."""

import pytest
from hostile import copied, latest_path, manifest_path, pointed, resealed, stored

from beam_topics.model.publishing.manifest import Manifest
from beam_topics.pipelines import show


@pytest.fixture
def made(tmp_path):
    return stored(tmp_path / "store")


def said_by_show(store, capsys, *options):
    status = show.main([f"--model_store={store.root}", *options])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize("options", [(), ("--model_version=",)])
def test_show_refuses_a_manifest_under_the_name_of_another(made, capsys, options):
    store, versions = made
    copied(store, versions[2], versions[0])
    status, _, told = said_by_show(store, capsys, *(option + versions[0] for option in options))
    assert (
        status == 2
        and told.count("\n") == 1
        and f"{versions[0]}.json holds version {versions[2]}" in told
    )


def test_show_refuses_a_deleted_pointer(made, capsys):
    store, versions = made
    latest_path(store).unlink()
    status, _, told = said_by_show(store, capsys, f"--model_version={versions[2]}")
    assert status == 2 and told.count("\n") == 1 and "LATEST is missing" in told


def test_show_refuses_nested_json(made, capsys):
    store, _ = made
    latest_path(store).write_bytes(b'{"a":' * 100_000)
    status, _, told = said_by_show(store, capsys)
    assert status == 2 and told.count("\n") == 1 and "LATEST does not have the content" in told


def test_show_prints_no_control_characters_of_a_manifest(made, capsys):
    store, versions = made
    path = manifest_path(store, versions[2])
    resealed(
        path,
        new_words=[
            {"topic": 1, "words": ["w\x1b[2J", "\u202eevil"], "came": [2, 1], "had": [0, 0]}
        ],
    )
    version = Manifest.from_json(path.read_bytes()).version
    path.rename(manifest_path(store, version))
    pointed(store, version)
    status, printed, _ = said_by_show(store, capsys)
    assert (
        status == 0
        and "\x1b" not in printed
        and "\u202e" not in printed
        and "w\ufffd[2J" in printed
    )
