r"""Read a YAML file of options or of seeds: every scalar is text, and nothing can grow or nest.

Aliases may stand for more than a file holds, so there are none. A key that is there twice would
hide a value, and is refused.

>>> mapping_of("a: [1, no]\nb: x", "--config", "x.yaml", "names and values")
{'a': ['1', 'no'], 'b': 'x'}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from model.errors import OptionError

# Options and seeds are a mapping of names to texts or to lists of texts.
_DEEPEST = 8


def mapping_of(text: str, option: str, path: str, allowed: str) -> dict[str, Any]:
    """Return the mapping that the text of a file holds.

    Args:
        text: the text.
        option: the option that names the file.
        path: the file.
        allowed: what the file should be, as a phrase.

    Raises:
        OptionError: it is not YAML, is no mapping, has an alias or a key twice, or nests deeper
            than eight levels.
    """
    # Imported here, because most command lines have no such file. Beam needs the package.
    import yaml

    try:
        # A file of frozen topics has thousands of words; the parser in C reads it in a second.
        events = yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        found = _built(events, yaml)
    except yaml.YAMLError as error:
        why = " ".join(str(error).split())
        raise OptionError(option, path, allowed, f"It is not YAML: {why}.") from error
    except _RefusedError as error:
        raise OptionError(option, path, allowed, str(error)) from error
    if not isinstance(found, dict):
        raise OptionError(option, path, allowed, "Correct the file.")
    return found


class _RefusedError(ValueError):
    """YAML that this project does not take."""


def _built(events: Iterable[Any], yaml: Any) -> Any:
    """Return the value of a document; a stack in place of recursion holds what is open."""
    found: Any = None
    opened: list[tuple[Any, list[str]]] = []
    for event in events:
        line = f"Line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            raise _RefusedError(f"{line}: write the value in place of the alias *{event.anchor}.")
        if isinstance(event, yaml.DocumentStartEvent) and found is not None:
            raise _RefusedError(f"{line}: a second document begins. Keep one in a file.")
        if isinstance(event, yaml.CollectionStartEvent):
            if len(opened) == _DEEPEST:
                raise _RefusedError(f"{line}: values nest deeper than {_DEEPEST} levels.")
            opened.append(([] if isinstance(event, yaml.SequenceStartEvent) else {}, []))
            continue
        if isinstance(event, yaml.ScalarEvent):
            value = event.value
        elif isinstance(event, yaml.CollectionEndEvent):
            value = opened.pop()[0]
        else:
            continue
        if opened:
            _add(*opened[-1], value, line)
        else:
            found = value
    return found


def _add(holder: Any, key: list[str], value: Any, line: str) -> None:
    """Add a value to a list, or to a mapping, where the first of two values is the key."""
    if isinstance(holder, list):
        holder.append(value)
    elif key:
        holder[key.pop()] = value
    elif not isinstance(value, str):
        raise _RefusedError(f"{line}: a name is a list or a mapping. Write it as text.")
    elif value in holder:
        raise _RefusedError(f"{line}: {value!r} is there twice. Leave one of the two out.")
    else:
        key.append(value)
