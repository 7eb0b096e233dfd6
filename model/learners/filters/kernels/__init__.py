"""Kernels that learners of all families use."""
