"""Kernels of the papers' learners."""
