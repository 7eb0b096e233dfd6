"""What an installation pulls in, with licences: ``python -m benchmarks.licences [EXTRA ...]``.

It prints a table of all that the requirements and the extras need, by the metadata of the packages
that are installed here. Requirements of other systems are left out.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageMetadata, metadata, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OWN = "beam-topics"


def needed(name: str, extras: frozenset[str], found: set[tuple[str, frozenset[str]]]) -> None:
    """Add a package with its extras, and what it needs, to those that were found."""
    if (name, extras) in found:
        return
    found.add((name, extras))
    for one in map(Requirement, requires(name) or ()):
        marker = one.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
            needed(canonicalize_name(one.name), frozenset(one.extras), found)


def licence(facts: PackageMetadata) -> str:
    """Return the licence that the metadata of a package names."""
    classes = [one for one in facts.get_all("Classifier") or () if one.startswith("License ::")]
    named = ", ".join(one.rpartition(" :: ")[2] for one in classes)
    given: str = facts["License-Expression"] or named or facts["License"] or "unknown"
    return given.partition("\n")[0]


if __name__ == "__main__":
    found: set[tuple[str, frozenset[str]]] = set()
    needed(OWN, frozenset(sys.argv[1:]), found)
    print("| package | release | licence |\n|---|---|---|")
    for name in sorted({name for name, _ in found} - {OWN}):
        facts = metadata(name)
        print(f"| {name} | {facts['Version']} | {licence(facts)} |")
