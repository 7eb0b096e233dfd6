"""Numba kernels of :mod:`beam_topics.model.gibbs`: arrays in, arrays out."""
