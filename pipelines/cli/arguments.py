"""Complete a command line: options of a file, and those of arguments without a name.

:mod:`beam_topics.pipelines.cli.option_files` has the rules of the file. An argument without a name
is a file of documents, or the folder of a run:

``train data.csv`` is ``train --input=data.csv`` with all that it writes in the folder
``data.topics`` next to the file. Other programs take that folder: ``show data.topics``. Every
option that is chosen so is printed to standard error, and ``run.yaml`` in the folder holds those of
``train`` for the programs that follow. An option that is given wins.

>>> run_folder("data/posts.csv.gz")
'data/posts.topics'
"""

from __future__ import annotations

import difflib
import glob
import re
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from beam_topics.model.errors import OptionError
from beam_topics.model.files import (
    folder_of,
    is_local,
    is_marker,
    is_store,
    literal_part,
    local_files,
)
from beam_topics.model.reading.settings import BINARY_ENDINGS, METADATA, TEXT_ENDINGS
from beam_topics.model.settings.options import names_in, names_text
from beam_topics.model.words.functions import Stored, check_allowed
from beam_topics.pipelines.cli import options
from beam_topics.pipelines.cli.groups import Groups, OptionGroup, UsageError, names_of, values_in
from beam_topics.pipelines.cli.invocation import shown
from beam_topics.pipelines.cli.looking import READING, as_input_is, inform, look, say
from beam_topics.pipelines.cli.option_files import expanded, read_config
from beam_topics.pipelines.graphs.sources import KafkaOptions, SourceOptions

ENDING = ".topics"
RUN_FILE = "run.yaml"
# What a run writes into its folder, by option.
_PARTS = {
    "model_store": "models",
    "dead_letters": "dead",
    "mixtures": "mixtures",
    "rows": "trends",
    "events": "events",
}
_ENDINGS = (*TEXT_ENDINGS, *BINARY_ENDINGS)


def without_name(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the arguments without a name, and the options, each as one argument.

    The argument after an option without ``=`` is taken for its value.
    """
    bare: list[str] = []
    rest: list[str] = []
    waits = False
    for one in argv:
        if one.startswith("-"):
            rest.append(one)
        elif waits:
            rest[-1] += f"={one}"
        else:
            bare.append(one)
        waits = one.startswith("-") and "=" not in one
    return bare, rest


def run_folder(path: str) -> str:
    """Return the folder next to the input for all that a run writes."""
    if not Path(path).exists() and re.search(r"[*?\[]", path):
        # The folder before the first part that matches several names.
        path = next(iter(names_in(path)), path)
        place = Path(literal_part(path).rpartition("/")[0])
    else:
        # The folder of "." is next to it, too.
        place = Path(path) if Path(path).name not in ("", "..") else Path(path).resolve()
    name = place.name.removesuffix(".gz")
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return str(place.parent / f"{name or 'documents'}{ENDING}")


def is_run(path: str) -> bool:
    """Return whether a folder is one that ``train`` or ``stream`` made from a bare argument."""
    return (Path(path) / _PARTS["model_store"]).is_dir()


def labels_beside(store: str) -> dict[str, str]:
    """Return the options that name where labels go, next to the store of a run.

    Returns:
        Empty where the store is not the folder ``models`` of this machine.
    """
    if not is_local(store) or Path(store).name != _PARTS["model_store"]:
        return {}
    options = {"output": "mixtures", "trends": "rows", "events": "events"}
    return {name: str(Path(store).parent / _PARTS[part]) for name, part in options.items()}


def of_learner(
    files: Sequence[str], folder: str, given: Collection[str], own: Collection[str]
) -> dict[str, str]:
    """Return the options of a program that learns: the input, and where everything goes."""
    if far := [path for path in files if "://" in path]:
        raise UsageError(
            f"{far[0]}: a folder next to the input is made on this machine only. Give --input,"
            " --model_store and --dead_letters."
        )
    found = {"input": ",".join(map(_input_of, files))}
    for name in ("model_store", "dead_letters"):
        found[name] = str(Path(folder, _PARTS[name]))
    if "output" in own:
        found["output"] = str(Path(folder, _PARTS["mixtures"]))
    return {name: value for name, value in found.items() if name not in given}


def run_to_continue(prog: str, bare: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the folder of the run that learns more documents, if there is one, and the files."""
    runs = [path for path in bare if is_run(path)]
    files = [path for path in bare if path not in runs]
    if len(runs) > 1:
        raise UsageError(f"{runs[1]}: {_why_wrong(prog, runs[1])}. Leave it out.")
    if not files:
        example = f"{shown(prog)} {runs[0]} february.csv --add_documents"
        page = f" {shown('serve')} {shlex.quote(runs[0])} shows its page." * (prog == "watch")
        raise UsageError(
            f"{runs[0]}: give the files to learn next after it, as in {example}.{page}"
        )
    return (runs[0] if runs else None), files


def stored_options(folder: str, known: Collection[str]) -> dict[str, str]:
    """Return the options with which the run of a folder learned; none where it keeps none."""
    stored = Path(folder) / RUN_FILE
    return dict(read_config(str(stored), known)) if stored.is_file() else {}


def _input_of(path: str) -> str:
    """Return ``--input`` for an argument; a folder stands for its files of the commonest ending.

    Where the folder itself and folders within it have such files, the user has to say. Hidden ones,
    marks of tools and model stores are none, and lists of users and channels alone are no
    documents. What is not read is reported.
    """
    if not Path(path).is_dir():
        # What is a file is one, whatever commas it has; another argument may name several.
        return names_text([path]) if Path(path).exists() else path
    return names_text([_pattern_of(path)])


def _pattern_of(path: str) -> str:
    folder = glob.escape(path.rstrip("/")) or "/"
    pattern = f"{folder}/*"
    for inner in ("*", "**/*"):
        files = local_files(f"{folder}/{inner}", "--input")
        endings = Counter(
            f"{Path(name.removesuffix('.gz')).suffix}{'.gz' * name.endswith('.gz')}"
            for name in files
            if name.lower().removesuffix(".gz").endswith(_ENDINGS)
        )
        if files:
            pattern = f"{folder}/{inner}"
        ending = min(endings, key=lambda one: (-endings[one], one), default="")
        pattern += ending
        if files and any(Path(one).name not in METADATA for one in files):
            break
    if inner == "*":
        _check_levels(path, folder, ending)
    _tell_left(path, local_files(pattern, "--input"))
    return pattern


def _check_levels(path: str, folder: str, ending: str) -> None:
    """Check that the folders in a folder have no files of the ending that its own files have."""
    inner = local_files(f"{folder}/*/*{ending}", "--input") if ending else []
    if inner:
        deep, flat = (shlex.quote(f"{folder}/{one}{ending}") for one in ("**/*", "*"))
        raise UsageError(
            f"{path}: files {ending} are in it and in the folders in it, for example {inner[0]}."
            f" Give {deep} or {flat} in place of {shlex.quote(path)}."
        )


def _tell_left(folder: str, read: Sequence[str]) -> None:
    """Say how many files of a folder are not read."""
    # What is below a folder whose own files are read may be a whole disk.
    deep = any(Path(one).parent != Path(folder) for one in read)
    every = {one for one in Path(folder).glob("**/*" if deep else "*") if one.is_file() or not deep}
    kinds = Counter(
        "folders within it"
        if path.is_dir()
        else "of a model store or run"
        if any(is_store(str(one)) for one in path.parents if Path(folder) in one.parents)
        else "hidden, or marks of a tool"
        if is_marker(str(path))
        else "of other endings"
        for path in every - set(map(Path, read))
    )
    if read and kinds:
        left = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
        inform(f"{folder}: the number of files that are read is {len(read):,}; not read: {left}.")


def _check_apart(inputs: Sequence[str], options: Mapping[str, str]) -> None:
    """Refuse a program that would write into the folders that it reads. Raises UsageError."""
    for path in filter(is_local, inputs):
        if "**" in path and not Path(path).exists():
            folder = folder_of([path])
        elif Path(path).is_dir():
            folder = path
        else:
            continue
        for name, part in _PARTS.items():
            value, inner = options.get(name, ""), Path(folder).resolve()
            if value and is_local(value) and Path(value).resolve().is_relative_to(inner):
                place = f"{inner.parent / inner.name}{ENDING}/{part}"
                raise UsageError(
                    f"{folder}: --{name}={shlex.quote(value)} is in the folder that is read. Give"
                    f" --{name}={shlex.quote(place)}."
                )


def of_reader(
    prog: str,
    bare: Sequence[str],
    given: Collection[str],
    own: Collection[str],
    known: Collection[str],
) -> list[tuple[str, str]]:
    """Return the options of a program that uses a model: where it is, and what else is there.

    Returns:
        Names and values; a name may be repeated.
    """
    runs = [path for path in bare if "model_store" in own and is_run(path)]
    takes = next((name for name in _TAKES if name in own), None)
    wrong = runs[1:]
    if not runs and "model_store" in own and "model_store" not in given:
        # The one folder of a run in the working directory.
        here = [str(path) for path in sorted(Path().glob(f"*{ENDING}")) if is_run(str(path))]
        runs = here if prog == "label" and len(here) == 1 else []
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
    return [(name, value) for name, value in found if name in own and name not in given]


def _why_wrong(prog: str, path: str) -> str:
    if is_run(path):
        return "a folder of a run stands before it already"
    if not Path(path).exists():
        return "there is no such folder"
    if Path(path).is_dir():
        return f"the folder has no model store '{_PARTS['model_store']}'"
    return f"{shown(prog)} takes no such argument"


def _is_misspelt(path: str, takes: str | None, has_run: bool) -> bool:
    """Return whether an argument seems to be meant as the folder of a run, and is none."""
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
        f"{shown('train')} data.csv makes the folder data.topics, and {shown(prog)} takes"
        " it; --help lists the options."
    )


# What an argument without a name may be, apart from the folder of a run.
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
    if prog == "infer":
        found["output"] = parts["mixtures"]
    if Path(parts["rows"]).is_dir():
        found["rows"] = parts["rows"]
    if prog == "erase":
        found = {name: path for name, path in parts.items() if Path(path).is_dir()}
    if prog == "report":
        found["output"] = str(folder / "report.html")
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
    """Return the text of a file for ``--config``; the values are quoted, so that they are text."""
    lines = [f"{name}: '{value.replace(chr(39), chr(39) * 2)}'" for name, value in options.items()]
    return "\n".join([f"# {head}", *lines, ""])


@dataclass(frozen=True)
class Arranged:
    """A completed command line.

    Attributes:
        argv: options only.
        folder: where its options are kept for the programs that follow; None for nowhere.
        files: what is kept there, by the name of the file.
    """

    argv: list[str]
    folder: Path | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    def ended(self) -> None:
        """Write the options of a run that succeeded, and say what can follow.

        A folder whose store is elsewhere would name another run to the programs that follow.
        """
        if (folder := self.folder) is None:
            return
        store = values_in(self.argv).get("model_store", "")
        if Path(store) != folder / "models":
            inform(f"Next: {shown('show')} {shlex.quote(f'--model_store={store}')}")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in self.files.items():
                (folder / name).write_text(text, encoding="utf-8")
            named = shlex.quote(str(folder))
            inform(f"Next: {shown('show')} {named}, {shown('report')} {named}")


def arranged(argv: Sequence[str], prog: str, groups: Groups) -> Arranged:
    """Return a command line with options only.

    Raises:
        UsageError: an argument without a name is nothing that the program takes, or the input
            leaves open what its fields are.
        OptionError: a file cannot be read, or an option has a wrong value.
    """
    if any(one.partition("=")[0] in ("-h", "--help") for one in argv):
        return Arranged(list(argv))
    own, known = frozenset(names_of(groups)), frozenset(names_of(all_groups()))
    bare, rest = without_name(argv)
    rest = expanded(rest, own, known)
    # A shell gives the marks of a tool for a glob, too.
    bare = [path for path in bare if not (is_marker(path) and Path(path).is_file())] or bare
    values = values_in(rest)
    _check_store(values.get("model_store", ""))
    if "learner" in own:
        read = [path for path in bare if not is_run(path)]
        _check_apart([*read, *names_in(values.get("input", ""))], values)
    if bare and {"learner", "input"} <= own:
        return _learner(bare, rest, values, prog, own, known)
    pairs: list[tuple[str, str]] = []
    if bare or prog == "label":
        pairs = of_reader(prog, bare, values, own, known)
    stored = {name: value for name, value in pairs if name in READING}
    # Other files may have ids of their own.
    looked = {name: value for name, value in stored.items() if name != "id_from"}
    named = [path for path in bare if not is_run(path)]
    chosen = as_input_is({**dict(pairs), **values}, rest, prog, looked, bool(named), own)
    if chosen is not None:
        pairs = [*(pair for pair in pairs if pair[0] not in stored), *chosen.items()]
    if "model_store" in own:
        chosen = {name: value for name, value in pairs if name != "text"}
        say(prog, chosen, "from the arguments")
    return Arranged([*(f"--{name}={value}" for name, value in pairs), *rest])


def _check_store(store: str) -> None:
    """Refuse the folder of a run in place of the model store that is in it."""
    inner = Path(store, _PARTS["model_store"])
    if store and is_local(store) and any(inner.glob("*/settings.json")):
        remedy = f"Give --model_store={shlex.quote(str(inner))}."
        raise OptionError("--model_store", store, "a model store", remedy)


def _learner(
    bare: Sequence[str],
    rest: Sequence[str],
    values: Mapping[str, str],
    prog: str,
    own: frozenset[str],
    known: frozenset[str],
) -> Arranged:
    run, files = run_to_continue(prog, bare)
    if run is None and values.get("add_documents") in ("", "true"):
        run = _run_of_store(values.get("model_store"), files[0])
    folder = run or run_folder(files[0])
    before = stored_options(run, known) if run else {}
    earlier = before.pop("input", "")
    where = of_learner(files, folder, values, own)
    before = {name: value for name, value in before.items() if name in own - values.keys()}
    check_allowed(Stored(before.get("tokeniser", "none")), f"{RUN_FILE} of {run}")
    options = {n: before[n] for n in before if n not in {*READING, *where}}
    say(prog, options, f"as in {run}")
    kept: dict[str, str] = {}
    if "input" in where:
        store = {**where, **values}["model_store"]
        chosen, kept = look(names_in(where["input"]), rest, prog, before, own, store)
        options |= chosen
    say(prog, where, "the input, and what is written")
    options |= where
    head = f"What {shown(prog)} chose, for --config and for the programs that follow."
    read = ",".join(dict.fromkeys(filter(None, (earlier, where.get("input", "")))))
    lasting = {n: v for n, v in values.items() if v and n in own and n != "resume_from"}
    stored = {**options, **({"input": read} if read else {}), **lasting}
    return Arranged(
        [*(f"--{name}={value}" for name, value in options.items()), *rest],
        Path(folder),
        {RUN_FILE: as_yaml(stored, head), **kept},
    )


def _run_of_store(store: str | None, file: str) -> str | None:
    """Return the folder of the run that has learned into a store, or from a file; None if none."""
    folder = run_folder(file) if store is None else str(Path(store).parent)
    is_its = store is None or Path(store).name == _PARTS["model_store"]
    return folder if is_its and is_run(folder) and (Path(folder) / RUN_FILE).is_file() else None


def all_groups() -> Groups:
    """Return the groups of options of all programs."""
    found = [each for each in vars(options).values() if isinstance(each, OptionGroup)]
    return [*found, SourceOptions, KafkaOptions]
