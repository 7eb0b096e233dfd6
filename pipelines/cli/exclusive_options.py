"""Options that belong to one choice of another option: to one ``--source``, or one ``--sink``."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from apache_beam.options.pipeline_options import PipelineOptions

from model.errors import OptionError
from pipelines.cli.command import UsageError

# For each choice its own options, with their values where they are not given.
Own = Mapping[str, Mapping[str, object]]


def check_own(
    options: PipelineOptions,
    option: str,
    chosen: str,
    own: Own,
    needed: Mapping[str, Mapping[str, str]],
    shared: Collection[str] = (),
) -> None:
    """Refuse what belongs to another choice, because it would be ignored, and a choice without what
    it needs.

    Args:
        option: ``source`` or ``sink``. needed: for each choice an example for each option that must
        be there. shared: options that something else uses too.

    Raises:
        UsageError: something is missing.
        OptionError: something is given that the choice does not have.
    """
    given = options.get_all_options()
    for name, example in needed[chosen].items():
        if given[name] in (None, "", []):
            raise UsageError(
                f"--{name} is missing. --{option}={chosen} needs it, for example"
                f" --{name}={example}."
            )
    defaults = {
        name: default for options_of in own.values() for name, default in options_of.items()
    }
    for name, default in defaults.items():
        if name not in own[chosen] and name not in shared and given[name] != default:
            others = " or ".join(
                f"--{option}={choice}" for choice, options_of in own.items() if name in options_of
            )
            raise OptionError(
                f"--{name}",
                given[name],
                f"nothing with --{option}={chosen}",
                f"Leave it out, or choose {others}.",
            )
