"""``--sign`` and ``--trust`` of the commands: who is refused, and that nothing is written then."""

import json
import re
from pathlib import Path

import fake_learner
import pytest
from exported import learned
from keys import key_files, secret

from beam_topics import TopicModel
from beam_topics.model.errors import UntrustedError
from beam_topics.pipelines.__main__ import main

LEARN = ("--input=docs.jsonl", "--dead_letters=dead", "--topics=2", "--stop_words=en")
READERS = {
    "show": (),
    "report": ("--output=out.html",),
    "label": ("--text=ship",),
    "serve": (),
    "infer": ("--input=docs.jsonl", "--output=out", "--dead_letters=dead"),
    "versions list": (),
    "versions diff": (),
    "versions pin": (),
    "versions rollback": (),
    "versions expire": ("--keep=versions:1d",),
    "export": ("--format=csv", "--output=out.csv"),
    "evaluate": ("--held_out=docs.jsonl", "--dead_letters=dead"),
    "fit_classifier": ("--input=docs.jsonl", "--dead_letters=dead"),
    "topics": ("--topic_ids=0", "--topic_name=Sea"),
    "train": (*LEARN, "--add_documents", "--sign=private1.pem"),
    "stream": (*LEARN, "--resume_from=latest", "--output=out", "--sign=private1.pem"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with keys, documents, and a store that nobody signed."""
    monkeypatch.chdir(tmp_path)
    key_files(tmp_path), key_files(tmp_path, 2)
    rows = [{"id": str(n), "text": "ship sail", "timestamp": f"2024-01-0{n + 1}"} for n in range(9)]
    Path("docs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return tmp_path


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("name", READERS)
def test_each_command_refuses_a_store_that_is_not_signed_and_writes_nothing(name, here, capsys):
    learned("models")
    before = files(here)
    argv = [*name.split(), "--model_store=models", "--trust=public1.pem", *READERS[name]]
    assert main(argv) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert re.search("models/_/(LATEST|manifests/0|checkpoints/0)", error)
    assert "is not what a key of --trust=public1.pem has signed" in error
    assert files(here) == before


def test_a_store_that_train_signed_is_read_by_who_trusts_the_key(here, capsys):
    learning = (
        f"--learner={fake_learner.Fake.kind}",
        "--topics=2",
        "--window=1d",
        "--publish_every=3d",
    )
    learning += ("--stop_words=none", "--input=docs.jsonl", "--model_store=models")
    learning += ("--dead_letters=dead",)
    assert main(["train", *learning, "--sign=private1.pem"]) == 0
    trusting = ["--model_store=models", "--trust=public1.pem"]
    for argv in (["show"], ["versions", "list"], ["report", "--output=out.html"]):
        assert main([*argv, *trusting]) == 0, capsys.readouterr().err
    assert main(["show", "--model_store=models", "--trust=public2.pem"]) == 2
    written = b"".join(data for name, data in files(here).items() if "private" not in name)
    assert b"PRIVATE KEY" not in written and secret() not in written
    # The private key of another, and none.
    before = files(here)
    for sign in ("--sign=private2.pem", "--sign="):
        assert main(["train", *learning, "--trust=public1.pem", sign]) == 2
        assert "the private key of one in --trust=public1.pem" in capsys.readouterr().err
    assert files(here) == before


def test_versions_sign_signs_what_is_there_and_changes_nothing_else(here, capsys):
    learned("models")
    before = files(here)
    assert main(["versions", "sign", "--model_store=models", "--sign=private1.pem"]) == 0
    signed = {name for name in files(here) if "/signatures/" in name}
    names = ("manifests", "checkpoints", "known")
    expected = [
        name for name in before if Path(name).parent.name in names or name.endswith("/LATEST")
    ]
    told = f"{len(expected)} files of key '' are signed\n"
    assert expected and len(signed) == len(expected) and capsys.readouterr().out == told
    assert {name: files(here)[name] for name in before} == before
    trusting = ["--model_store=models", "--trust=public1.pem"]
    assert main(["show", *trusting]) == 0
    assert main(["train", *LEARN, "--add_documents", "--sign=private1.pem", *trusting]) in (0, 2)
    assert "has signed" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "change", [["topics", "--topic_ids=0", "--topic_name=Sea"], ["versions", "rollback"]]
)
def test_what_changes_a_signed_store_is_signed_or_refused(change, here, capsys):
    learned("models")
    assert main(["versions", "sign", "--model_store=models", "--sign=private1.pem"]) == 0
    before, given = files(here), [*change, "--model_store=models"]
    trusting = [*given, "--trust=public1.pem"]
    for argv in (given, trusting, [*trusting, "--sign=private2.pem"]):
        assert main(argv) == 2
        assert "--sign: " in capsys.readouterr().err and files(here) == before
    assert main([*trusting, "--sign=private1.pem"]) == 0
    assert main(["show", "--model_store=models", "--trust=public1.pem"]) == 0


def test_versions_sign_with_trust_takes_only_what_a_trusted_key_signed(here, capsys):
    learned("models")
    sign = ["versions", "sign", "--model_store=models"]
    before = files(here)
    assert main([*sign, "--sign=private2.pem", "--trust=public1.pem"]) == 2
    assert "is not what a key of --trust=public1.pem has signed" in capsys.readouterr().err
    for given in ([], ["--sign="], ["--sign=public1.pem"]):
        assert main([*sign, *given]) == 2
        assert "--sign" in capsys.readouterr().err
    assert files(here) == before
    # Another key takes the place of the first one.
    assert main([*sign, "--sign=private1.pem"]) == 0
    assert main([*sign, "--sign=private2.pem", "--trust=public1.pem"]) == 0
    assert main(["show", "--model_store=models", "--trust=public2.pem"]) == 0


def test_versions_sign_signs_nothing_of_a_key_that_is_damaged(here, capsys):
    learned("models")
    (entry, *_) = Path("models/_/checkpoints").iterdir()
    entry.write_bytes(b"x" + entry.read_bytes()[1:])
    assert main(["versions", "sign", "--model_store=models", "--sign=private1.pem"]) == 2
    assert "damaged" in capsys.readouterr().err and not Path("models/_/signatures").exists()


def test_a_key_that_others_can_read_ends_the_run_before_it_writes(here, capsys):
    Path("private1.pem").chmod(0o644)
    before = files(here)
    assert main(["train", "--model_store=models", *LEARN, "--sign=private1.pem"]) == 2
    assert "--sign: 'private1.pem' was given; allowed is a private" in capsys.readouterr().err
    assert files(here) == before


def test_the_estimator_signs_and_trusts(here):
    texts = ["ship sail", "court judge"] * 20
    plain = TopicModel(topics=2).fit(texts)
    mine = TopicModel(
        topics=2, model_store="models", sign="private1.pem", trust=here / "public1.pem"
    )
    assert mine.fit(texts).version_ == plain.version_
    assert TopicModel.load("models", trust="public1.pem").version_ == plain.version_
    with pytest.raises(UntrustedError, match="public2.pem has signed"):
        TopicModel.load("models", trust="public2.pem")
    mine.trust = "public2.pem"
    with pytest.raises(UntrustedError, match="public2.pem has signed"):
        mine.explore()
