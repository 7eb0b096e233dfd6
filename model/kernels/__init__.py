"""Numba kernels: arrays in, arrays out. Each has a slow, readable twin in the tests."""
