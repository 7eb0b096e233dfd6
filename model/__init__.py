"""Topic models over streams, without Beam: records, vocabularies, learners, inference,
evaluation and the model store.
"""

# Part of every manifest, so that a model says which release made it.
__version__ = "0.1.0"
