"""Names and event times that several steps share."""

from __future__ import annotations

from apache_beam.transforms.window import GlobalWindow

# The namespace of all counters, distributions and string sets of this project.
NAMESPACE = "beam_topics"
# The tag of the output that holds dead letters.
DEAD_LETTERS = "dead_letters"

# The last whole millisecond of event time, in microseconds. When the input has ended, each step
# finishes before the steps that use its output: Sequence at END_OF_STREAM, Label at END_OF_LABELS,
# and the steps that collect records by period at LAST_TIME.
LAST_TIME = int(GlobalWindow().max_timestamp().micros) // 1000 * 1000
END_OF_LABELS = LAST_TIME - 500_000
END_OF_STREAM = LAST_TIME - 1_000_000
