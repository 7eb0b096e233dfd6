"""Numba kernels for words: arrays in, arrays out."""
