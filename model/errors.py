"""Errors that users read: each names what was given, what is allowed, and what to do about it."""

from __future__ import annotations


class BeamTopicsError(Exception):
    """Base class of every error that this project raises on purpose.

    Attributes:
        exit_status: of a program that such an error ends.
    """

    exit_status = 2


class OptionError(BeamTopicsError, ValueError):
    """An option or a setting has a value that it may not have.

    Args:
        option: the option as the user spells it, for example ``--particles``.
        given: the value that was given.
        allowed: what is allowed, as a phrase ("a whole number of 1 or more").
        remedy: what to do, as a sentence.
    """

    def __init__(self, option: str, given: object, allowed: str, remedy: str) -> None:
        super().__init__(f"{option}: {given!r} was given; allowed is {allowed}. {remedy}")
        self.option = option


class MisplacedOptionError(OptionError):
    """An option is given that has no effect here: it belongs to another choice.

    Args:
        option: as for :class:`OptionError`.
        text: the whole message.
    """

    def __init__(self, option: str, text: str) -> None:
        BeamTopicsError.__init__(self, text)
        self.option = option


class DamagedDataError(BeamTopicsError):
    """Bytes that were stored do not have the digest, the form or the version that they should
    have.
    """


class DivergedError(BeamTopicsError):
    """A replay came to other bits than the run that it repeats; going on would mix two
    histories.
    """


class StoreConflictError(BeamTopicsError):
    """The model store holds a history that this run does not continue."""


class MemoryLimitError(BeamTopicsError):
    """A learner's state is larger than ``--max_state_mb``."""


class SourceError(BeamTopicsError):
    """A system that documents come from, or mixtures go to, does not do what it should."""


# The remedy where a disk is full.
FULL_DISK = "Free some space, or give another folder, and run again."


class OutputError(BeamTopicsError):
    """A file cannot be written."""


class RefusedInputError(BeamTopicsError):
    """A run came to its end, and nothing or less than half of what it read could be used."""

    exit_status = 3


class LostMinibatchesError(BeamTopicsError):
    """A job ended before all that was cut into minibatches had been learned."""


def at_least(option: str, value: float, least: float) -> None:
    """Raises OptionError: the value is below ``least``, or not a number."""
    if not value >= least:
        raise OptionError(option, value, f"{least} or more", "Correct the value.")


def above_zero(option: str, value: float, usual: str) -> None:
    """Raises OptionError: the value is not a finite number above 0; ``usual`` values are said."""
    if not 0 < value < float("inf"):
        raise OptionError(
            option, value, "a finite number above 0", f"Usual values lie between {usual}."
        )


def one_of(option: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raises OptionError: the value is not one of those allowed."""
    if value not in allowed:
        raise OptionError(
            option, value, "one of " + ", ".join(map(str, allowed)), "Correct the spelling."
        )
