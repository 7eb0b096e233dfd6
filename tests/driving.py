"""Run the bundles of a splittable DoFn by hand, as a runner does, and split them where wanted.

Where this is imported, no bundle ends for the time that it took.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import apache_beam as beam
from apache_beam.runners.sdf_utils import (
    RestrictionTrackerView,
    ThreadsafeRestrictionTracker,
    ThreadsafeWatermarkEstimator,
)
from apache_beam.transforms.window import TimestampedValue

from beam_topics.model.documents.block import Block
from beam_topics.model.documents.document import Document
from beam_topics.transforms.sources import log_source

log_source.BUNDLE_SECONDS = math.inf


@dataclass
class Bundle:
    """What a bundle gave: outputs, the rest, the watermark, and the seconds to wait.

    The rest and the watermark are None at the end.
    """

    outputs: list[Any] = field(default_factory=list)
    rest: bytes | None = None
    watermark: int | None = None
    seconds: float = 0.0


def bundle(fn, element, restriction=None, state=None, stop_after=None):
    """One bundle; with ``stop_after`` the runner takes the rest away behind so many outputs."""
    restriction = fn.initial_restriction(element) if restriction is None else restriction
    state = fn.initial_estimator_state(element, restriction) if state is None else state
    tracker = ThreadsafeRestrictionTracker(fn.create_tracker(restriction))
    estimator = ThreadsafeWatermarkEstimator(fn.create_watermark_estimator(state))
    done = Bundle()
    for output in fn.process(element, RestrictionTrackerView(tracker), estimator):
        done.outputs.append(output)
        # Nothing is left to take away once all is claimed.
        if len(done.outputs) == stop_after and (taken := tracker.try_split(0)) is not None:
            _, done.rest = taken
            done.watermark = estimator.get_estimator_state()
    if deferred := tracker.deferred_status():
        assert done.rest is None
        done.rest, seconds = deferred
        done.seconds = float(seconds)
    if done.watermark is None and done.rest is not None:
        done.watermark = estimator.get_estimator_state()
    tracker.check_done()
    return done


def to_the_end(fn, element, most=10_000, **others):
    """All bundles one after the other."""
    bundles = [bundle(fn, element, **others)]
    while bundles[-1].rest is not None:
        assert len(bundles) < most
        bundles.append(bundle(fn, element, bundles[-1].rest, bundles[-1].watermark, **others))
    return bundles


def ids(bundles):
    """The ids of the documents of bundles, in order; dead letters are None."""
    return [name for done in bundles for output in done.outputs for name in _ids(output)]


def _ids(output):
    if isinstance(output, beam.pvalue.TaggedOutput):
        return [None]
    assert isinstance(output, TimestampedValue)
    data = output.value
    is_block = data[:4] == Block.MAGIC
    return Block.from_bytes(data).ids if is_block else [Document.from_bytes(data).id]
