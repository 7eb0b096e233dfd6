"""The folders for what is made once for a machine: compiled kernels, and unpacked tables."""

from __future__ import annotations

from pathlib import Path


def cache_places(root: Path, chosen: str | None) -> list[Path]:
    """Return the folders that may hold it, the preferred one first.

    Args:
        root: The folder of the package ``model``.
        chosen: Numba's own folder, where one is set.

    Returns:
        Numba's own folder alone where one is set; else one next to the sources, then one in the
        user's cache, for sources that cannot be written.
    """
    if chosen:
        return [Path(chosen)]
    return [root / "kernels" / "__pycache__", Path.home() / ".cache" / "beam-topics"]
