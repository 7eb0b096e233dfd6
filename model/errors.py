"""Errors for users: each names what was given, what is allowed, and the remedy."""

from __future__ import annotations

from collections.abc import Iterable


class BeamTopicsError(Exception):
    """Base class of every error that this project raises on purpose.

    Attributes:
        exit_status: The exit status of a program that ends with this error.
    """

    exit_status = 2


class OptionError(BeamTopicsError, ValueError):
    """An option or a setting has a value that is not allowed.

    Args:
        option: The option as the user spells it, for example ``--particles``.
        given: The value that was given.
        allowed: What is allowed, as a phrase ("a whole number of 1 or more").
        remedy: What to do, as a sentence.
    """

    def __init__(self, option: str, given: object, allowed: str, remedy: str) -> None:
        super().__init__(f"{option}: {given!r} was given; allowed is {allowed}. {remedy}")
        self.option = option


class MisplacedOptionError(OptionError):
    """An option is given that has no effect here, because it belongs to another choice.

    Args:
        option: As for :class:`OptionError`.
        text: The whole message.
    """

    def __init__(self, option: str, text: str) -> None:
        BeamTopicsError.__init__(self, text)
        self.option = option


class DamagedDataError(BeamTopicsError):
    """Stored bytes do not have the digest, the form or the version that they should have."""


class UntrustedError(BeamTopicsError):
    """A file of the model store is not signed by a key of ``--trust``."""


class LimitError(DamagedDataError):
    """Data, damaged or not, exceed a limit that protects the process that reads them."""


class DivergedError(BeamTopicsError):
    """A replay came to other bits than the run that it repeats.

    Continuing would mix two histories.
    """


class StoreConflictError(BeamTopicsError):
    """The model store holds a history that this run does not continue."""


class MemoryLimitError(BeamTopicsError):
    """The state of a learner is larger than ``--max_state_mb``."""


class SourceError(BeamTopicsError):
    """A system that documents come from, or mixtures go to, fails."""


# The remedy for a full disk.
FULL_DISK = "Free some space, or give another folder, and run again."


class OutputError(BeamTopicsError):
    """A file cannot be written."""


class RefusedInputError(BeamTopicsError):
    """A run ended, and could use nothing or less than half of what it read."""

    exit_status = 3


class InterruptedRunError(BeamTopicsError):
    """A run was interrupted (Ctrl-C).

    Args:
        said: What is kept.
        again: The options with which the same command goes on; none for one that begins again.
            None where no command does.
    """

    exit_status = 130

    def __init__(self, said: str, again: tuple[str, ...] | None = None) -> None:
        super().__init__(said)
        self.again = again


class LostMinibatchesError(BeamTopicsError):
    """A job ended before it had learned all minibatches."""


def at_least(option: str, value: float, least: float) -> None:
    """Check that a value is a number of at least ``least``.

    Raises:
        OptionError: It is not.
    """
    if not value >= least:
        raise OptionError(option, value, f"{least} or more", "Correct the value.")


def one_of(option: str, value: object, allowed: tuple[object, ...]) -> None:
    """Check that a value is one of those allowed.

    Raises:
        OptionError: It is not.
    """
    if value not in allowed:
        raise OptionError(
            option, value, "one of " + ", ".join(map(str, allowed)), "Correct the spelling."
        )


def counted(number: float, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "document"), counted(2000, "document")
    ('1 document', '2,000 documents')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return the remedy for an unknown name: the known one that is near to it, if one is."""
    # Imported here: most programs meet no unknown name.
    import difflib

    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f"Did you mean {near[0]}?" if near else otherwise
