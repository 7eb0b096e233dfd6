"""Documents in columns, from the reader to the learner."""
