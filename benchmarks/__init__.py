"""Measure speed and quality, with every rival in the same run.

``benchmarks/README.md`` has the commands. ``docs/results/`` has the figures.
"""

from beam_topics.pipelines.graphs.memory import limit_malloc

# As a command does before it imports Beam, whose threads would have arenas of their own.
limit_malloc()
