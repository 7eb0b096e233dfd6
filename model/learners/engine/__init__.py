"""Live latent Dirichlet allocation in epochs: one step for an archive and a stream.

:mod:`beam_topics.model.learners.engine.state` has what is learned,
:mod:`beam_topics.model.learners.engine.epoch` the step and its law,
:mod:`beam_topics.model.learners.engine.archive` the order in which an archive is learned, and
:mod:`beam_topics.model.learners.engine.stream` that of a stream.
:mod:`beam_topics.model.learners.engine.learner` registers both as the learner ``gibbs``.
"""
