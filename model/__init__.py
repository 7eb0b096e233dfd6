"""Topic models over streams, without Beam: records, vocabularies, learners, inference, evaluation and the model store."""
