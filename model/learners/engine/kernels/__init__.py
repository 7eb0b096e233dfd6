"""Kernels of the engine: draws of topics, sums of changes, and draws of what topics share."""
