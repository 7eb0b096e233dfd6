"""Programs: each file is one runnable graph.

``python -m pipelines`` lists them, and ``python -m pipelines.train --help`` shows options.
"""

from transforms.logs import leave_out_harmless

# Before Beam is imported, because one of the records is logged by that import.
leave_out_harmless()
