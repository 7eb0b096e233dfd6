"""Functions of users that options name as ``module:function``: above all one that cuts texts.

``--tokeniser=my_words:cut`` calls ``cut(text)`` for each text, which is in lower case and normal
form C, and takes what it returns: a list of texts. Stop words, lengths, lemmas and stemming apply
to these as to other words. The model records the name of the function, not its code, so labelling
needs the same function, and workers need the module.

A model may come from someone else, and its settings could name any function; importing its module
runs code. So a name read from a store is :class:`Stored`, and its module is imported only after
:func:`allow` was called with the same name, which a command does for its ``--tokeniser``. Only a
function declared as a tokeniser is called:

>>> @declared
... def cut(text: str) -> list[str]:
...     return text.split()
"""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Callable
from typing import Any, TypeVar

from beam_topics.model.errors import OptionError


def load(flag: str, given: str, example: str) -> Callable[..., Any]:
    """Return the function that an option names.

    Args:
        flag: The option as users write it.
        given: ``module:function``.
        example: Such a name, for the message.

    Raises:
        OptionError: There is no such function.
    """
    module, colon, function = given.partition(":")
    if not colon or not module or not function.isidentifier():
        raise OptionError(flag, given, "module:function", f"For example {flag}={example}.")
    try:
        found = getattr(importlib.import_module(module), function)
    except Exception as error:
        remedy = "Check the spelling, and that PYTHONPATH has the folder of the module."
        raise OptionError(flag, given, f"a function that exists ({error})", remedy) from error
    if not callable(found):
        raise OptionError(flag, given, "a function", "Name a function of the module.")
    loaded: Callable[..., Any] = found
    return loaded


_ALLOWED: set[str] = set()


class Stored(str):
    """The name of a function that a store gives, and the user has not."""

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        # A worker calls what its command allows.
        return (str if self in _ALLOWED else Stored), (str(self),)


def allow(given: str | None) -> None:
    """Let stores name a function that the user names, from now on in this process."""
    if given is not None and not isinstance(given, Stored):
        _ALLOWED.add(given)


def check_allowed(given: str, where: str = "the model") -> None:
    """Check that the user has named a function.

    Args:
        given: ``module:function``.
        where: What names it, for the message.

    Raises:
        OptionError: A store names it, and the user has not.
    """
    if isinstance(given, Stored) and given not in {"none", *_ALLOWED}:
        flag = shlex.quote(f"{FLAG}={given}")
        allowed = f"a function that you name yourself; {where} names it, and nothing was imported"
        remedy = f"If you trust it, run the same with {flag} (Python: tokeniser={str(given)!r})."
        raise OptionError(FLAG, str(given), allowed, remedy)


F = TypeVar("F", bound=Callable[[str], list[str]])

FLAG = "--tokeniser"
_MARK = "beam_topics_tokeniser"


def declared(function: F) -> F:
    """Declare a function as a tokeniser; a decorator."""
    setattr(function, _MARK, True)
    return function


def load_function(given: str) -> Callable[[str], list[str]]:
    """Return a function that cuts a text and checks what the user's function returns.

    Args:
        given: ``module:function``.

    Raises:
        OptionError: There is no such function, it is not declared, or only a store names it. The
            returned function raises it where the user's one fails, or returns anything but a list
            of words: texts without white space that can be written as UTF-8.
    """
    check_allowed(given)
    function = load(FLAG, given, "my_words:cut")
    if getattr(function, _MARK, None) is not True:
        remedy = "If it is yours, put @beam_topics.model.words.functions.declared above it."
        raise OptionError(FLAG, given, "a function that is declared as a tokeniser", remedy)

    def cut(text: str) -> list[str]:
        try:
            found = function(text)
        except Exception as error:
            allowed = f"a function that returns the words of every text ({error!r})"
            remedy = f"It failed for the text that begins with {text[:40]!r}. Mend the function."
            raise OptionError(FLAG, given, allowed, remedy) from error
        wrong = (
            [word for word in found if not _is_word(word)] if isinstance(found, list) else [found]
        )
        if wrong:
            allowed = "a function that returns a list of words without white space"
            remedy = f"It returned {wrong[0]!r:.100}. Mend the function."
            raise OptionError(FLAG, given, allowed, remedy)
        return found

    return cut


def _is_word(word: Any) -> bool:
    if not isinstance(word, str) or word.split() != [word] or "\0" in word:
        return False
    return not any("\ud800" <= character <= "\udfff" for character in word)
