"""No two steps have timers of one name.

Where the local runner fuses two steps it would give the timers of one to the other.
"""

import importlib
import inspect
import pkgutil

import apache_beam as beam
from apache_beam.transforms.userstate import TimerSpec

from beam_topics import transforms


def timers():
    """Each step that declares a timer, with the timer's name."""
    for module in pkgutil.iter_modules(transforms.__path__):
        for _, step in inspect.getmembers(
            importlib.import_module(f"beam_topics.transforms.{module.name}"), inspect.isclass
        ):
            if (
                issubclass(step, beam.DoFn)
                and step.__module__ == f"beam_topics.transforms.{module.name}"
            ):
                yield from (
                    (step.__name__, spec.name)
                    for spec in vars(step).values()
                    if isinstance(spec, TimerSpec)
                )


def test_timers_have_names_of_their_own():
    names = ["ts-bursts", "ts-label", "ts-period", "ts-silence", "ts-stories", "ts-window"]
    assert sorted(name for _, name in timers()) == names
