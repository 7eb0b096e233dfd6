"""Plots have the format of their ending, are reproducible, and show perplexity on a log axis."""

import numpy as np
import pytest
from made import snapshot_of

from model.errors import OutputError
from model.publishing.curves import Curves
from pipelines.cli import plots

pytest.importorskip("matplotlib")

ROWS = [
    {
        "event_time": n * 86_400_000_000,
        "ranks": {},
        "nmi": 0.5,
        "prequential_perplexity": 10.0 ** (9 - n),
    }
    for n in range(4)
]
METHODS = [
    {
        "method": name,
        "reference": "gibbs2",
        "milliseconds": 0.1,
        "cosine": 0.9,
        "kl": 0.1,
        "f1": 0.8,
    }
    for name in ("gibbs3", "gibbs2")
]
BEGINS = {"png": b"\x89PNG", "svg": b"<?xml", "SVG": b"<?xml"}


@pytest.mark.parametrize("ending", BEGINS)
@pytest.mark.parametrize(("draw", "rows"), [(plots.draw, ROWS), (plots.draw_comparison, METHODS)])
def test_the_ending_is_the_format_and_the_same_figures_are_the_same_bytes(
    tmp_path, ending, draw, rows
):
    one, other = tmp_path / "new" / f"a.{ending}", tmp_path / f"b.{ending}"
    draw(str(one), rows)
    draw(str(other), rows)
    assert one.read_bytes().startswith(BEGINS[ending])
    assert one.read_bytes() == other.read_bytes()


def test_a_perplexity_has_a_logarithmic_axis_and_a_share_has_not(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "_save", lambda figure, path: drawn.append(figure))
    plots.draw("x.png", ROWS)
    assert {axes.get_ylabel(): axes.get_yscale() for axes in drawn[0].axes} == {
        "share": "linear",
        "perplexity": "log",
    }


def test_curves_are_drawn_over_dates(tmp_path, monkeypatch):
    drawn, day = [], 86_400_000_000
    monkeypatch.setattr(plots, "_save", lambda figure, path: drawn.append(figure))
    found = Curves(0, 12 * day, np.array([[0.7, 0.3], [np.nan, np.nan], [0.1, 0.9]]))
    plots.draw_curves("x.png", found, snapshot_of([[9, 0], [0, 3]], words=("sea", "law")))
    (axes,) = drawn[0].axes
    assert [str(line.get_label()) for line in axes.lines] == ["1: law", "0: �sea"]
    first = axes.lines[0].get_xdata()
    assert [time.isoformat()[:10] for time in first] == ["1970-01-03", "1970-01-07", "1970-01-11"]
    assert np.allclose(axes.lines[0].get_ydata(), [0.3, np.nan, 0.9], equal_nan=True)


def test_a_disk_that_is_full_is_told(tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    with pytest.raises(
        OutputError,
        match=r"--plot: .*x.png cannot be written: No space left on device\. Free some space",
    ):
        plots.draw(str(tmp_path / "x.png"), ROWS)
