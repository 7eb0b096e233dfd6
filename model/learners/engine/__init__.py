"""Live latent Dirichlet allocation in epochs: one step for an archive, a stream and a filter.

:mod:`beam_topics.model.learners.engine.state` has what is learned,
:mod:`beam_topics.model.learners.engine.epoch` the step and its law, and
:mod:`beam_topics.model.learners.engine.archive` the order in which an archive is learned.
"""
