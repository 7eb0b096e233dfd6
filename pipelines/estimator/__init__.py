"""The models of the pipelines as a scikit-learn estimator, without Beam, and what they wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from beam_topics.model.errors import OptionError
from beam_topics.model.reporting.encoding import rows_of_file

_ENDINGS = (".jsonl", ".avro")


def read_mixtures(folder: str | Path) -> Iterator[Mapping[str, Any]]:
    """Yield the mixtures of a folder, or of one file, as dictionaries.

    Args:
        folder: what ``--output`` named.

    Raises:
        OptionError: there is no such folder.
        DamagedDataError: a file cannot be read.
    """
    place = Path(folder)
    if not place.exists():
        raise OptionError("folder", str(folder), "a folder of mixtures", "Correct the path.")
    files = (
        [place]
        if place.is_file()
        else sorted(path for path in place.iterdir() if path.suffix in _ENDINGS)
    )
    for path in files:
        with path.open("rb") as stream:
            yield from rows_of_file(stream, str(path))
