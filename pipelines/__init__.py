"""Programs: each file is one runnable graph.

``python -m beam_topics.pipelines`` lists them, and ``beam-topics train --help``
shows options.
"""

from beam_topics.transforms.logs import leave_out_harmless

# Before Beam is imported, because one of the records is logged by that import.
leave_out_harmless()
