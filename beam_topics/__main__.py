"""The command ``beam-topics``, also ``python -m beam_topics``."""

from __future__ import annotations

import sys

from beam_topics import quiet_interrupts


def main() -> int:
    """Run the command and return its exit status."""
    quiet_interrupts()
    from beam_topics.pipelines.__main__ import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
