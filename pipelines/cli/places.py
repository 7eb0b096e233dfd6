"""Arguments without a name: files of documents, and the folder of a run.

``train data.csv`` is ``train --input=data.csv`` with all that it writes in the folder
``data.topics`` beside the file. Other programs take that folder: ``show data.topics``. Every option
that is chosen so is printed, and ``run.yaml`` in the folder holds those of ``train`` for the
programs that follow. An option that is given wins.

>>> run_folder("data/posts.csv.gz")
'data/posts.topics'
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from model.reading.settings import BINARY_ENDINGS, TEXT_ENDINGS
from pipelines.cli.config import read_config
from pipelines.cli.invocation import shown
from pipelines.cli.shared_options import UsageError

ENDING = ".topics"
RUN_FILE = "run.yaml"
# What the input of the run was (:mod:`model.profile`).
PROFILE_FILE = "profile.json"
# What a run writes into its folder, by option.
_PARTS = {"model_store": "models", "dead_letters": "dead", "mixtures": "mixtures"}
# How the records of a run are read. The programs that follow read theirs alike.
READING = (
    "id_field",
    "timestamp_field",
    "text_field",
    "label_field",
    "key_field",
    "id_from",
    "time_from",
    "timestamp_format",
    "time_zone",
    "format",
    "encoding",
    "chats",
    "delimiter",
    "columns",
    "unquoted_field",
    "max_document_mb",
)
_ENDINGS = (*TEXT_ENDINGS, *BINARY_ENDINGS)


def without_name(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments without a name, and the others.

    The argument behind an option without ``=`` is taken for its value.
    """
    bare: list[str] = []
    rest: list[str] = []
    for at, one in enumerate(argv):
        before = argv[at - 1] if at else ""
        is_value = before.startswith("-") and "=" not in before
        (rest if one.startswith("-") or is_value else bare).append(one)
    return bare, rest


def run_folder(path: str) -> str:
    """Return the folder beside the input for all that a run writes."""
    place = Path(path)
    if any(mark in place.name for mark in "*?["):
        place = place.parent
    name = place.name.removesuffix(".gz")
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return str(place.parent / f"{name or 'documents'}{ENDING}")


def is_run(path: str) -> bool:
    """Return whether a folder is one that ``train`` or ``stream`` made from a bare argument."""
    return (Path(path) / _PARTS["model_store"]).is_dir()


def of_learner(
    files: Sequence[str], folder: str, given: Collection[str], own: Collection[str]
) -> dict[str, str]:
    """Return the options of a program that learns: the input, and where everything goes.

    Args:
        files: the arguments without a name that are no folder of a run.
        folder: the folder of the run.
        given: the names of the options that are given.
        own: the names of the options that the program has.

    Raises:
        UsageError: an input is not on this machine.
    """
    if far := [path for path in files if "://" in path]:
        raise UsageError(
            f"{far[0]}: a folder beside the input is made on this machine only. Give --input,"
            " --model_store and --dead_letters."
        )
    found = {"input": ",".join(map(_input_of, files))}
    for name in ("model_store", "dead_letters"):
        found[name] = str(Path(folder, _PARTS[name]))
    if "output" in own:
        found["output"] = str(Path(folder, _PARTS["mixtures"]))
    return {name: value for name, value in found.items() if name not in given}


def run_to_continue(prog: str, bare: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the folder of the run that learns more documents, if there is one, and the files.

    Raises:
        UsageError: there are several such folders, or no file.
    """
    runs = [path for path in bare if is_run(path)]
    files = [path for path in bare if path not in runs]
    if len(runs) > 1:
        raise UsageError(f"{runs[1]}: {_why_wrong(prog, runs[1])}. Leave it out.")
    if not files:
        example = f"{shown(prog)} {runs[0]} february.csv --add_documents"
        raise UsageError(f"{runs[0]}: give the files to learn next behind it, as in {example}.")
    return (runs[0] if runs else None), files


def stored_options(folder: str, known: Collection[str]) -> dict[str, str]:
    """Return the options with which the run of a folder learned; none where it keeps none."""
    stored = Path(folder) / RUN_FILE
    return dict(read_config(str(stored), known)) if stored.is_file() else {}


def _input_of(path: str) -> str:
    """Return the pattern for an argument; a folder stands for its files of the commonest ending.

    Files of the folder itself come before those in folders within it, and hidden ones are none.
    """
    if not Path(path).is_dir():
        return path
    folder = path.rstrip("/")
    for inner in ("*", "**/*"):
        names = [one.name for one in Path(path).glob(inner) if one.is_file()]
        endings = Counter(
            f"{Path(name.removesuffix('.gz')).suffix}{'.gz' * name.endswith('.gz')}"
            for name in names
            if not name.startswith(".") and name.lower().removesuffix(".gz").endswith(_ENDINGS)
        )
        if endings:
            return f"{folder}/{inner}{min(endings, key=lambda one: (-endings[one], one))}"
        if names:
            break
    return f"{folder}/*"


def of_reader(
    prog: str,
    bare: Sequence[str],
    given: Collection[str],
    own: Collection[str],
    known: Collection[str],
) -> list[tuple[str, str]]:
    """Return the options of a program that uses a model: where it is, and what else is there.

    Args:
        prog: the name of the program, for example ``pipelines.show``.
        bare: the arguments without a name: the folder of a run, and files or texts.
        given: the names of the options that are given.
        own: the names of the options that the program has.
        known: the names of the options of all programs.

    Returns:
        Names and values; a name may be repeated.

    Raises:
        UsageError: an argument is neither the folder of a run nor anything that the program takes.
    """
    runs = [path for path in bare if "model_store" in own and is_run(path)]
    takes = next((name for name in _TAKES if name in own), None)
    wrong = runs[1:]
    if not runs and "model_store" in own and "model_store" not in given:
        runs = _only_run() if prog == "pipelines.label" else []
        wrong = [path for path in bare if _is_misspelt(path, takes, bool(runs))]
    others = [path for path in bare if path not in runs]
    if takes is None:
        wrong = wrong or others
    if wrong:
        raise UsageError(f"{wrong[0]}: {_why_wrong(prog, wrong[0])}. {_remedy(prog, wrong[0])}")
    found: list[tuple[str, str]] = []
    if takes == "text":
        found = [("text", text) for text in others]
    elif takes and others:
        found = [(takes, ",".join(map(_input_of, others)))]
    named = dict(found)
    if runs:
        found += [
            (name, value)
            for name, value in _of_run(prog, Path(runs[0]), own, known).items()
            if name not in named
        ]
    return [(name, value) for name, value in found if name in own]


def _why_wrong(prog: str, path: str) -> str:
    if is_run(path):
        return "a folder of a run stands before it already"
    if not Path(path).exists():
        return "there is no such folder"
    if Path(path).is_dir() and not is_run(path):
        return f"the folder has no model store '{_PARTS['model_store']}'"
    return f"{shown(prog)} takes no such argument"


def _is_misspelt(path: str, takes: str | None, has_run: bool) -> bool:
    """Return whether an argument seems to be meant as the folder of a run, and is none.

    Args:
        path: the argument.
        takes: what else an argument of the program may be.
        has_run: whether the program has a run without it.
    """
    if takes == "text":
        return len(path.split()) == 1 and bool(_near(path) or not has_run)
    return takes is None or not (Path(path).exists() or any(mark in path for mark in "*?[:,"))


def _near(path: str) -> list[str]:
    """Return the folders of runs whose names are near: of the file, around it, or by spelling."""
    place = Path(path)
    around = [str(place.parent)] if place.name in _PARTS.values() else []
    found = [one for one in (run_folder(path), *around) if is_run(one)]
    if place.parent.is_dir():
        runs = [str(one) for one in sorted(place.parent.iterdir()) if is_run(str(one))]
        found += difflib.get_close_matches(str(place), runs, 3, 0.7)
    return [one for one in dict.fromkeys(found) if one != path]


def _remedy(prog: str, path: str) -> str:
    if near := _near(path):
        return f"Did you mean {' or '.join(near)}?"
    return (
        f"{shown('pipelines.train')} data.csv makes the folder data.topics, and {shown(prog)} takes"
        " it; --help lists the options."
    )


def _only_run() -> list[str]:
    """Return the folder of a run in the working directory, if there is exactly one."""
    found = [str(path) for path in sorted(Path().glob(f"*{ENDING}")) if is_run(str(path))]
    return found if len(found) == 1 else []


# What an argument without a name may be, beside the folder of a run.
_TAKES = ("text", "held_out", "input")


def _of_run(
    prog: str, folder: Path, own: Collection[str], known: Collection[str]
) -> dict[str, str]:
    """Return the options that name the parts of a run and say how its records are read."""
    options = stored_options(str(folder), known)
    # Another program may use such a name for something else: --format of export.
    reads = (*READING, "input") if "text_field" in own else ()
    found = {name: options[name] for name in reads if name in options}
    parts = {name: str(folder / part) for name, part in _PARTS.items()}
    found |= {"model_store": parts["model_store"], "dead_letters": parts["dead_letters"]}
    if prog == "pipelines.infer":
        found["output"] = parts["mixtures"]
    if prog == "pipelines.report":
        found["output"] = str(folder / "report.html")
        if (folder / PROFILE_FILE).is_file():
            found["input_profile"] = str(folder / PROFILE_FILE)
        documents = found.pop("input", None)
        if not Path(parts["dead_letters"]).is_dir():
            del found["dead_letters"]
        # Texts are shown of documents that are labelled.
        if Path(parts["mixtures"]).is_dir():
            found["mixtures"] = parts["mixtures"]
            found |= {} if documents is None else {"documents": documents}
        else:
            found = {name: value for name, value in found.items() if name not in READING}
    return found


def as_yaml(options: Mapping[str, str], head: str) -> str:
    """Return the text of a file for ``--config``; the values are quoted, so that they are text.

    Args:
        options: by name.
        head: a line that says what the file is.
    """
    lines = [f"{name}: '{value.replace(chr(39), chr(39) * 2)}'" for name, value in options.items()]
    return "\n".join([f"# {head}", *lines, ""])
