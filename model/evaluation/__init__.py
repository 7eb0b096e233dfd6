"""The quality of a model: nMI against labels, held-out perplexity, coverage of the vocabulary."""
