"""Refuse foreign packages in place of those that come with this one.

The names of ``model``, ``transforms`` and ``pipelines`` are common ones. A folder of that name that
Python finds first, or another distribution that wrote its files over ours, would fail later and
without a reason.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

PACKAGES = ("model", "transforms", "pipelines")


def check_siblings() -> None:
    """Check that the packages are those that lie beside this one.

    Raises:
        ImportError: one of them is missing or foreign.
    """
    place = Path(__file__).resolve().parent.parent
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        origin = None if spec is None else spec.origin
        # A namespace package has no origin, and ours is none.
        if origin is None or Path(origin).resolve().parent.parent != place or not _is_ours(name):
            found = origin or (spec and list(spec.submodule_search_locations or ())) or "nowhere"
            raise ImportError(
                f"beam-topics needs its own package {name!r} in {place}, and Python finds another"
                f" one: {found}. Install beam-topics into an environment without a distribution"
                " of that name, and run it outside of a folder that holds such a package."
            )


def _is_ours(name: str) -> bool:
    """Return whether the package has the modules that it should have."""
    marks = {"model": "snapshot.py", "transforms": "sequence.py", "pipelines": "train.py"}
    here = Path(__file__).resolve().parent.parent / name
    return (here / marks[name]).is_file() and (here / "__init__.py").stat().st_size > 0
