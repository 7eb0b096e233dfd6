"""Numba kernels of :mod:`model.gibbs`: arrays in, arrays out."""
