"""The model store of the estimator: its settings, and copies of its files."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import cast

from model.errors import OptionError
from model.kinds import record_from_json
from model.learner_log.options import LearnOptions, Publication, RunSettings
from model.learners import LEARNER, LearnerSettings
from model.publishing.store import ModelStore
from model.settings import SequenceSettings, TokeniserSettings


class OwnFolder:
    """A folder that is removed with the object, or at the end of the process."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="beam-topics-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


def learning_in(root: str) -> LearnOptions:
    """Return the options that the model "" of a store was learned with.

    Raises:
        OptionError: the store has no such model.
        DamagedDataError: its settings cannot be read.
    """
    store = ModelStore(root)
    settings, newest = store.settings(""), store.manifest("")
    kind, every = next(iter(newest.publish_every.items()), ("period", 86_400_000_000))
    publication = Publication("windows" if kind == "windows" else "period", every)
    learner = record_from_json(LEARNER.kinds, settings["learner"], "learner")
    return LearnOptions(
        settings=cast(LearnerSettings, learner),
        tokeniser=TokeniserSettings.from_json(settings["tokeniser"], "tokeniser"),
        sequence=SequenceSettings.from_json(settings["sequence"], "sequence"),
        store=root,
        run=RunSettings(publish_every=publication),
    )


def copy(root: str, target: Path) -> None:
    """Copy a model store to an empty folder, or one that is made.

    Raises:
        OptionError: the folder is not empty, or the store is not on this machine.
    """
    if not Path(root).is_dir():
        raise OptionError("model_store", root, "a folder of this machine", "Copy it by its tools.")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OptionError("folder", str(target), "a folder that is empty, or can be made", "")
    shutil.copytree(root, target, dirs_exist_ok=True)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files below a folder, by their path in it."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write what :func:`files_of` returned."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
