"""Refuse foreign packages in place of those that come with this one.

The names of ``model``, ``transforms`` and ``pipelines`` are common ones. A folder of that name that
Python finds first, or another distribution that wrote its files over ours, would fail later and
without a reason.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

# How the first line of each package begins. A file that another distribution wrote over ours has
# another one.
PACKAGES = {
    "model": '"""Topic models over streams',
    "transforms": '"""The steps of the pipelines',
    "pipelines": '"""Programs: each file is one runnable graph',
}


def check_siblings() -> None:
    """Check that the packages are those that lie beside this one.

    Raises:
        ImportError: one of them is missing or foreign.
    """
    place = Path(__file__).resolve().parent.parent
    for name, begins in PACKAGES.items():
        spec = importlib.util.find_spec(name)
        # A folder without __init__.py is found, too. It has no origin.
        origin = Path(spec.origin).resolve() if spec is not None and spec.origin else None
        if origin != place / name / "__init__.py":
            found = origin or (list(spec.submodule_search_locations or ()) if spec else "nowhere")
            why = f"Python finds it at {found}"
        elif not origin.read_text(encoding="utf-8").startswith(begins):
            why = f"another distribution has written its own to {origin}"
        else:
            continue
        raise ImportError(
            f"beam-topics needs its own package {name!r} in {place}, and {why}. Install beam-topics"
            " into an environment without a distribution that has a package of this name, and do"
            " not run it in a folder that has one."
        )
