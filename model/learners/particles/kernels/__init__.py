"""Numba kernels of the particle family: arrays in, arrays out."""
