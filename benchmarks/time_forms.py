"""The time that it takes to read a time of each form, beside ``datetime.strptime``."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from beam_topics.model.reading.time_forms import read_time

_COUNT = 20_000
_MAIL = "%a, %d %b %Y %H:%M:%S +0100"
# How a time is written for each form.
_FORMS: dict[str, Callable[[datetime], object]] = {
    "iso": datetime.isoformat,
    "s": datetime.timestamp,
    "ms": lambda moment: str(int(moment.timestamp() * 1000)),
    "excel": lambda moment: 40_000 + moment.timestamp() / 86_400,
    "rfc2822": lambda moment: moment.strftime(_MAIL),
}
_DIRECTIVES = (
    "%d/%m/%Y %H:%M",
    "%B %d, %Y",
    "%a %b %d %H:%M:%S +0000 %Y",
    "%Y-%m-%d %H:%M:%S.%f",
    "%b %d %Y %I:%M %p",
)


def time_forms() -> None:
    """Print the microseconds of the processor for each time, the least of five rounds."""
    # They are different times of two years.
    moments = [datetime.fromtimestamp(1_600_000_000 + 3_151.7 * n) for n in range(_COUNT)]
    written = {form: [write(moment) for moment in moments] for form, write in _FORMS.items()}
    written |= {form: [moment.strftime(form) for moment in moments] for form in _DIRECTIVES}
    for form, values in written.items():
        utc, zone = (
            _least(values, partial(read_time, form=form, zone=zone))
            for zone in ("UTC", "Europe/Berlin")
        )
        line = f"{form:28} UTC {utc:5.2f} us   Europe/Berlin {zone:5.2f} us   (wanted 3)"
        if form in _DIRECTIVES:
            beside = _least(values, lambda value, form=form: datetime.strptime(str(value), form))
            line += f"   strptime {beside:5.2f} us"
        print(line)


def _least(values: Sequence[object], read: Callable[[object], object]) -> float:
    spent = []
    for _ in range(5):
        begin = time.process_time()
        for value in values:
            read(value)
        spent.append(time.process_time() - begin)
    return min(spent) / len(values) * 1e6
