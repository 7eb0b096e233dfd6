"""Figures of a report: plain records from versions, snapshots, mixtures and texts, without a page.

:mod:`beam_topics.pipelines.report` puts them into a page. Everything here is a function of what is
stored: no clock, no random generator, and the same stores give the same figures.
"""
