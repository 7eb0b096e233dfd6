"""Stories of mixtures are those of the model's function, in a job that streams and in any other."""

import json
from dataclasses import replace

import apache_beam as beam
import numpy as np
import pytest
from blocks import mixture_block
from collecting import run

from beam_topics.model.inference.mixtures import TopicMixture
from beam_topics.model.reporting.stories import Sketch, Stories
from beam_topics.model.times import to_iso
from beam_topics.transforms.trends import FindStories

DAY = 86_400_000_000


def blocks():
    """(time, bytes, sketch) of documents of four days, a block each."""
    draw, found = np.random.default_rng(4), []
    for day in range(4):
        for n in range(30):
            words = [f"w{one}" for one in draw.integers(0, 200, 6)]
            if n < 5:
                words = [f"event{day}", f"place{day}", f"name{day}", words[0]]
            shares = np.eye(3)[n % 3] * 0.7 + 0.1
            time = day * DAY + int(draw.integers(0, DAY))
            one = TopicMixture("", f"{day}-{n}", time, "v", "gibbs3", shares, 6, 6)
            counts = {word: words.count(word) for word in words}
            block = replace(mixture_block([one], [time], None), words=(counts,)).to_bytes()
            found.append((time, block, Sketch(time, one.id, n % 3, counts)))
    return found


def rows(*flags, streams, given):
    def build(pipeline):
        stamped = pipeline | beam.Create([(time, data) for time, data, _ in given])
        stamped |= beam.MapTuple(
            lambda time, data: beam.window.TimestampedValue(data, time / 1e6)
        ).with_output_types(bytes)
        return {"rows": stamped | FindStories(DAY, streams=streams)}

    held, _ = run(build, *flags)
    return sorted(json.dumps(json.loads(data), sort_keys=True) for _, data in held["rows"])


@pytest.mark.parametrize("streams", [True, False])
def test_stories_are_those_of_the_function(streams):
    given, known, wanted = blocks(), Stories(), []
    for day in range(4):
        window = {"window_start": to_iso(day * DAY), "window_end": to_iso((day + 1) * DAY)}
        sketches = [one for _, _, one in given if one.time // DAY == day]
        wanted += [{"key": "", **window, **row} for row in known.closed(sketches)]
    assert {row["came"] for row in wanted} >= {5}
    wanted = sorted(json.dumps(row, sort_keys=True) for row in wanted)
    assert rows(streams=streams, given=given) == wanted
    repeated = rows("--direct_runner_bundle_repeat=2", streams=streams, given=given[::-1])
    assert sorted(set(repeated)) == wanted
