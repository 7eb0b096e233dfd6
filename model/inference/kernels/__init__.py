"""Numba kernels of the inference methods: arrays in, arrays out."""
