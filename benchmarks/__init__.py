"""Measure speed and quality, with every rival in the same run.

``benchmarks/README.md`` has the commands. ``docs/results/`` has the figures.
"""
