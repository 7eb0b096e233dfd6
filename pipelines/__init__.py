"""Programs: each file is one runnable graph.

``python -m beam_topics.pipelines`` lists them, and ``beam-topics train --help``
shows options.
"""

# Filters log records of Beam, also of programs that import no step.
import beam_topics.transforms  # noqa: F401
