import pytest

from beam_topics.model.profile.profile import lengths_of, span_of

DAY = 86_400_000_000


@pytest.mark.parametrize(
    ("days", "window", "every"),
    [
        (0.2, "1min", "10min"),
        (20, "6h", "1d"),
        (400, "1d", "30d"),
        (9000, "30d", "365d"),
        (90000, "365d", "3652d"),
    ],
)
def test_lengths_fit_the_span(days, window, every):
    span = span_of([round(n * days * DAY / 100) for n in range(101)])
    assert lengths_of(span) == {"window": window, "publish_every": every}


@pytest.mark.parametrize("far", [-20_000 * DAY, 80_000 * DAY])
def test_outliers_are_named_and_do_not_widen_the_windows(far):
    mass = [number * DAY for number in range(300)]
    assert span_of([*mass, far]).outliers == (far,)
    assert lengths_of(span_of([*mass, far])) == lengths_of(span_of(mass))


def test_quantiles():
    span = span_of(range(101))
    assert (span.first, span.last, span.quantiles) == (0, 100, (1, 25, 50, 75, 99))


def test_few_and_equal_times_have_no_outliers():
    assert span_of([]) is None
    assert span_of([0, 10_000 * DAY]).outliers == ()
    assert lengths_of(span_of([5] * 100))["window"] == "1min"


def test_a_long_archive_without_gaps_has_no_outliers():
    assert span_of([number * 365 * DAY for number in range(-180, 50)]).outliers == ()
