"""Filters: what happens to minibatches before any learner learns them."""
