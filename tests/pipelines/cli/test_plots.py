"""Plots have the format of their ending, are reproducible, and show perplexity on a log axis."""

import pytest

from model.errors import OutputError
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


def test_a_disk_that_is_full_is_told(tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    with pytest.raises(
        OutputError,
        match=r"--plot: .*x.png cannot be written: No space left on device\. Free some space",
    ):
        plots.draw(str(tmp_path / "x.png"), ROWS)
