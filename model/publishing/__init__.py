"""The model store: snapshots, candidates, versions, manifests, checkpoints and classifiers."""
