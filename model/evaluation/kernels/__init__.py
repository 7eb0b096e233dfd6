"""Numba kernels of the evaluation: arrays in, arrays out."""
