"""Topic models over streams, without Beam: records, learners, inference, evaluation, the store."""

# Part of every manifest, so that a model says which release made it.
__version__ = "0.3.0"
