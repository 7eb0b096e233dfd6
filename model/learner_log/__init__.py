"""A learner in a stream: its log of minibatches, its head and checkpoints, and its candidates."""
