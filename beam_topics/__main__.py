"""The command ``beam-topics``, also ``python -m beam_topics``.

It is here and not in ``pipelines``, because a foreign package of that name is refused first, by
``beam_topics/__init__.py``.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command and return its exit status."""
    # Imported here, behind the check of the packages.
    from pipelines.__main__ import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
