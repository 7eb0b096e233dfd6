"""Kernels of batch Gibbs sampling."""
