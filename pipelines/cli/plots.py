"""Plots of the figures of ``pipelines.evaluate``, ``pipelines.compare`` and ``pipelines.show``.

They need matplotlib (``pip install 'beam-topics[plots]'``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from model.errors import FULL_DISK, OutputError
from model.publishing.curves import Curves
from model.snapshot import Snapshot
from model.times import EPOCH
from pipelines.cli.terminal import plain, rank_trace

_UPPER = {
    "nmi": "nMI, held out",
    "in_sample_nmi": "nMI, in sample",
    "coverage": "known share of words",
    "npmi": "coherence, NPMI",
    "svm_accuracy": "accuracy of a linear SVM",
}
_LOWER = {
    "first_moment_perplexity": "held out, first moment",
    "left_to_right_perplexity": "held out, left to right",
    "prequential_perplexity": "prequential",
}

# Topics with a curve, and the words that name a topic.
_CURVES, _NAMED_BY = 12, 3
_AGREEMENT = {"cosine": "cosine", "kl": "KL, nats", "f1": "F1"}


def draw(path: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw the figures of the versions over event time."""
    from matplotlib.figure import Figure

    times = [EPOCH + timedelta(microseconds=row["event_time"]) for row in rows]
    words = list(rows[-1]["ranks"]) if rows else []
    figure = Figure(figsize=(9, 10 if words else 7), layout="constrained")
    panels = figure.subplots(3 if words else 2, 1, sharex=True)
    for axes, names, title in zip(panels, (_UPPER, _LOWER), ("share", "perplexity"), strict=False):
        for name, label in names.items():
            values = [float("nan") if row.get(name) is None else row[name] for row in rows]
            if any(value == value for value in values):
                axes.plot(times, values, label=label, marker="." if len(rows) < 60 else None)
        axes.set_ylabel(title)
        if names is _LOWER:
            # An early version may be worse than the last by powers of ten.
            axes.set_yscale("log")
        if axes.lines:
            axes.legend()
    if words:
        _draw_ranks(panels[2], times, words, rows)
    _save(figure, path)


def _draw_ranks(
    axes: Any, times: Sequence[Any], words: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Draw the rank of each word, with rank 1 at the top."""
    for word in words:
        topic, ranks = rank_trace(word, rows)
        if topic is not None:
            values = [float("nan") if rank is None else rank for rank in ranks]
            axes.plot(times, values, label=f"{plain(word)}, topic {topic}", marker=".")
    axes.set_yscale("log")
    axes.invert_yaxis()
    axes.set_ylabel("rank in the topic")
    if axes.lines:
        axes.legend()


def draw_curves(path: str, drawn: Curves, snapshot: Snapshot) -> None:
    """Draw the share of the largest topics in what came, over event time.

    Args:
        path: the file.
        drawn: the curves of all topics.
        snapshot: the model whose words name the topics.
    """
    from matplotlib.figure import Figure

    times = [EPOCH + timedelta(microseconds=time) for time in drawn.times()]
    figure = Figure(figsize=(10, 6), layout="constrained")
    axes, top = figure.subplots(), snapshot.top_words(_NAMED_BY)
    order = np.argsort(-np.nan_to_num(drawn.shares).sum(axis=0), kind="stable")
    for topic in order[:_CURVES].tolist():
        label = str(plain(f"{topic}: {' '.join(top[topic])}"))
        axes.plot(
            times, drawn.shares[:, topic], label=label, marker="." if len(times) < 60 else None
        )
    axes.set_ylabel("share of the tokens that came")
    axes.set_ylim(bottom=0)
    axes.tick_params(axis="x", rotation=30)
    figure.legend(loc="outside right upper", fontsize=8)
    _save(figure, path)


def draw_shares(path: str, times: Sequence[Any], shares: Any, names: Sequence[str]) -> None:
    """Draw the mean share of the largest topics by window.

    Args:
        path: the file.
        times: the starts of the windows.
        shares: float64[windows, topics], NaN where nothing is known.
        names: the names of the topics.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained")
    axes = figure.subplots()
    order = np.argsort(-np.nan_to_num(shares).sum(axis=0), kind="stable")
    for topic in order[:_CURVES].tolist():
        marker = "." if len(times) < 60 else None
        axes.plot(times, shares[:, topic], label=str(plain(names[topic])), marker=marker)
    axes.set_ylabel("mean share")
    axes.set_ylim(bottom=0)
    axes.tick_params(axis="x", rotation=30)
    figure.legend(loc="outside right upper", fontsize=8)
    _save(figure, path)


def draw_comparison(path: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw each method's agreement with the reference over its time for a document."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.5), layout="constrained")
    for axes, (name, title) in zip(figure.subplots(1, 3), _AGREEMENT.items(), strict=True):
        for row in rows:
            if row[name] is not None and row["method"] != row["reference"]:
                axes.plot(row["milliseconds"], row[name], "o")
                axes.annotate(
                    row["method"],
                    (row["milliseconds"], row[name]),
                    xytext=(4, 4),
                    textcoords="offset points",
                    fontsize=8,
                )
        axes.set_xscale("log")
        axes.set_xlabel("milliseconds a document")
        axes.set_title(title)
    _save(figure, path)


def _save(figure: Any, path: str) -> None:
    """Write the picture in the format of its ending; the same figures give the same bytes.

    Raises:
        OutputError: it cannot be written.
    """
    import matplotlib

    Path(path).parent.mkdir(parents=True, exist_ok=True)
    ending = Path(path).suffix[1:].lower()
    try:
        with matplotlib.rc_context({"svg.hashsalt": "beam-topics"}):
            figure.savefig(
                path, format=ending, dpi=110, metadata={"Date": None} if ending == "svg" else None
            )
    except OSError as error:
        raise OutputError(
            f"--plot: {path} cannot be written: {error.strerror}. {FULL_DISK}"
        ) from error
