"""Functions of users that options name as ``module:function``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from model.errors import OptionError


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
    except (ImportError, AttributeError) as error:
        remedy = "Check the spelling, and that PYTHONPATH has the folder of the module."
        raise OptionError(flag, given, f"a function that exists ({error})", remedy) from error
    if not callable(found):
        raise OptionError(flag, given, "a function", "Name a function of the module.")
    loaded: Callable[..., Any] = found
    return loaded
