"""Numba kernels of the variational family: arrays in, arrays out."""
