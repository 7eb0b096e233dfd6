"""Numba kernels of the particle family: functions of arrays."""
