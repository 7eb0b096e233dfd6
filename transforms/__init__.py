"""Beam only: one stage of the flow per file; the work itself is in :mod:`model`."""
