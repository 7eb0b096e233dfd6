import pytest

pytest.importorskip("psutil", reason="psutil is not installed: it is in the extra bench")

from benchmarks.soak import PASSES, Watch, report


def watched(passes):
    """A run in which only these passes were seen."""
    watch = Watch(first=0, span=10)
    for number in passes:
        watch.passed = number
        watch.documents[number] = 100
        watch.ended[number] = 10.0 * number, 5.0 * number
        watch.resident[number] = [200.0, 210.0]
        watch.note("waiting documents", 7)
    return watch


def test_a_flat_run(capsys):
    report(watched(range(1, PASSES + 1)))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["documents/s", *["-"], *["10"] * (PASSES - 1)]
    assert lines[3].split() == ["waiting", "documents", *["7"] * PASSES, "+0.0%"]
    assert lines[-1] == "documents 1000   throughput of the last pass / the second: 1.00"


def test_growth_is_named(capsys):
    watch = watched(range(1, PASSES + 1))
    watch.note("waiting documents", 8)
    report(watch)
    assert "+14.3%   grows" in capsys.readouterr().out


def test_passes_that_were_not_seen_have_no_figures(capsys):
    report(watched([1, *range(3, PASSES + 1)]))
    text = capsys.readouterr().out
    assert "not seen in both passes" in text and "grows" not in text
    assert "worker MB, median           205        -      205" in text
    assert text.rstrip().endswith("the last pass / the second: not known")


def test_memory_is_sampled_since_something_was_learned():
    watch = Watch(first=0, span=10)

    class Stop:
        left = 3

        def wait(self, seconds):
            if self.left == 1:
                watch.learned(5, 2)
            self.left -= 1
            return self.left < 0

    watch.sample(Stop())
    assert {number: len(found) for number, found in watch.resident.items()} == {1: 1}
