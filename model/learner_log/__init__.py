"""A learner in a stream: its life as a log of minibatches, its head and checkpoint, and when it
offers a model.
"""
