"""Settings of a choice whose kinds share options with other groups: ``--source`` and ``--sink``.

An option that belongs to one kind alone is a field of its record, and :mod:`model.compositions`
refuses it beside another kind. An option that several kinds read, or that other pipelines have,
for example ``--input``, is in a group of its own. The records name it in ``shared``, and
:func:`settings_of_choice` refuses it beside a kind that does not.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from model.compositions import Choice, compose, placements
from model.errors import BeamTopicsError, OptionError
from model.options import Record
from pipelines.cli.groups import OptionGroup, Options
from pipelines.cli.settings_options import given_of


class UsageError(BeamTopicsError):
    """A command line that cannot be used as it is."""


R = TypeVar("R", bound=Record)


def settings_of_choice(
    options: Options,
    group: type[OptionGroup],
    choice: Choice[R],
    elsewhere: Collection[str] = (),
) -> R:
    """Make the settings of a choice from options.

    Args:
        options: the parsed command line.
        group: the group that declares the options of the choice.
        choice: its kinds have ``shared`` and ``needed``.
        elsewhere: shared options that another choice of the same command line reads.

    Raises:
        UsageError: an option that the chosen kind needs is missing.
        OptionError: an option has no effect beside the chosen kind, or has a wrong value.
    """
    found = [choice.option(), *(placement.option for placement in placements(choice))]
    made = compose(choice, given_of(options, group, found))
    _check_shared(options, choice, made, elsewhere)
    return made


def _check_shared(
    options: Options, choice: Choice[Any], made: Any, elsewhere: Collection[str]
) -> None:
    # Settings of a choice are made where a graph is built. Imported here, because it imports Beam.
    from pipelines.graphs.beam_options import given_options

    kinds: Mapping[str, Any] = choice.kinds
    shared = dict.fromkeys(name for kind in kinds.values() for name in kind.shared)
    given = given_options(options, [*made.needed, *shared])
    for name, example in made.needed.items():
        if given.get(name) in (None, "", []):
            raise UsageError(
                f"--{name} is missing. --{choice.name}={made.kind} needs it, for example"
                f" --{name}={example}."
            )
    for name in shared:
        if name in given and name not in made.shared and name not in elsewhere:
            able = [kind for kind, record in kinds.items() if name in record.shared]
            others = " or ".join(f"--{choice.name}={kind}" for kind in able)
            raise OptionError(
                f"--{name}",
                given[name],
                f"nothing with --{choice.name}={made.kind}",
                f"Leave it out, or choose {others}.",
            )
