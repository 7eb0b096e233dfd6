"""One file, one runnable graph: ``python -m pipelines.train --help``."""
