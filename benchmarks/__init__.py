"""Speed and quality, measured side by side in one run; ``benchmarks/README.md`` has the commands
and the figures.
"""
