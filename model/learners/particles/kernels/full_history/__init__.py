"""The shared rows of ``--history=full``: a directed tree of hash tables."""
