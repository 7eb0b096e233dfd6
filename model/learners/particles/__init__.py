"""The particle family: o-LDA, incremental Gibbs and the particle filter as one algorithm."""
