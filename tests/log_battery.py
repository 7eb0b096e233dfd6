"""The laws of a log: each entry comes out once, in order, whatever is cut or lost.

A log is what :class:`beam_topics.transforms.sources.log_source.LogSourceDoFn` reads. A test of a
source calls :func:`check_laws` with a small log that ends. ``driving.py`` runs bundles by hand.
"""

from unittest import mock

import driving

from beam_topics.transforms.sources import log_source


def check_laws(make, element, ids):
    """Check all laws.

    Args:
        make: Returns a new instance of the DoFn, as another worker has it.
        element: The log, as the DoFn takes it. It has to end.
        ids: The ids of the documents of the log, in order, and None for each dead letter; three or
            more.

    Raises:
        AssertionError: A law does not hold.
    """
    assert len(ids) >= 3, "the battery needs a log of three entries"
    assert make().range_of(element).stop is not None, "the battery needs a log that ends"
    for law in LAWS:
        law(make, element, ids)
        log_source.READER_CACHE.__init__()


def small_bundles(entries):
    return mock.patch.object(log_source, "BUNDLE_ENTRIES", entries)


def everything_comes_in_order(make, element, ids):
    assert driving.ids(driving.to_the_end(make(), element)) == ids, "entries come in order"


def small_bundles_change_nothing(make, element, ids):
    for entries in (1, 2, 3):
        with small_bundles(entries):
            bundles = driving.to_the_end(make(), element)
        assert driving.ids(bundles) == ids, "small bundles change nothing"
        assert max(len(done.outputs) for done in bundles) <= entries


def the_rest_may_be_taken_away_at_any_entry(make, element, ids):
    for cut in range(1, len(ids)):
        bundles = driving.to_the_end(make(), element, stop_after=cut)
        assert driving.ids(bundles) == ids, f"the rest may be taken away behind {cut} entries"


def a_failed_bundle_is_done_again(make, element, ids):
    for failing in range(1, len(ids) + 1):
        fn, good, attempt, rest, watermark = make(), [], 0, None, None
        with small_bundles(1 + failing % 2):
            while not good or rest is not None:
                attempt += 1
                done = driving.bundle(fn, element, rest, watermark)
                # A failed bundle leaves nothing but a reader that has gone on.
                if attempt != failing:
                    good.append(done)
                    rest, watermark = done.rest, done.watermark
        assert driving.ids(good) == ids, f"bundle {failing} fails and is done again"


def another_process_goes_on(make, element, ids):
    bundles, rest, watermark = [], None, None
    with small_bundles(2):
        while not bundles or rest is not None:
            log_source.READER_CACHE.__init__()
            bundles.append(driving.bundle(make(), element, rest, watermark))
            rest, watermark = bundles[-1].rest, bundles[-1].watermark
    assert driving.ids(bundles) == ids, "another process goes on where the rest begins"


def what_is_read_goes_on_with_its_reader(make, element, ids):
    fn, opened = make(), []
    open_reader = fn.open
    fn.open = lambda *given: opened.append(given) or open_reader(*given)
    with small_bundles(1):
        driving.to_the_end(fn, element)
    assert len(opened) == 1, (
        "a reader stands where the rest of the range begins, so the next bundle can use it"
    )


LAWS = (
    everything_comes_in_order,
    small_bundles_change_nothing,
    the_rest_may_be_taken_away_at_any_entry,
    a_failed_bundle_is_done_again,
    another_process_goes_on,
    what_is_read_goes_on_with_its_reader,
)
