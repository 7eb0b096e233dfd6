"""Kernels over documents in columns."""
