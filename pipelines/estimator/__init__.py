"""The models of the pipelines as a scikit-learn estimator, without Beam."""
