"""The particle family: o-LDA, incremental Gibbs and the particle filter, one machine with
settings.
"""
