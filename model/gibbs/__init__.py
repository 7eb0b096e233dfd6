"""Gibbs sampling of documents beside a model's counts, dense and by SparseLDA (Yao et al. 2009)."""
