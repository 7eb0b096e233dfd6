"""One file, one runnable graph: ``python -m pipelines.train --help``; ``python -m pipelines``
lists them.
"""

from transforms.logs import leave_out_harmless

# Before Beam is imported, because one of the records is logged by that import.
leave_out_harmless()
