"""A function of the user that cuts a text into words.

``--tokeniser=my_words:cut`` calls ``cut(text)`` for each text, which is in lower case and normal
form C, and takes what it returns: a list of texts. Stop words, lengths, lemmas and stemming apply
to these as to other words. The model records the name of the function and not its code, so whoever
labels needs the same function, and workers need the module.
"""

from __future__ import annotations

from collections.abc import Callable

from model.errors import OptionError
from model.functions import load

FLAG = "--tokeniser"


def load_function(given: str) -> Callable[[str], list[str]]:
    """Return a function that cuts a text and checks what the user's function returns.

    Args:
        given: ``module:function``.

    Raises:
        OptionError: There is no such function. The returned function raises it where the user's
            one fails, or returns anything but a list of texts.
    """
    function = load(FLAG, given, "my_words:cut")

    def cut(text: str) -> list[str]:
        try:
            found = function(text)
        except Exception as error:
            told = f"a function that returns the words of every text ({error!r})"
            remedy = f"It failed for the text that begins with {text[:40]!r}. Mend the function."
            raise OptionError(FLAG, given, told, remedy) from error
        if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
            remedy = f"It returned {type(found).__name__} of other things. Mend the function."
            raise OptionError(FLAG, given, "a function that returns a list of texts", remedy)
        return found

    return cut
