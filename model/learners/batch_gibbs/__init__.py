"""Batch Gibbs sampling over all documents: the reference learner."""
