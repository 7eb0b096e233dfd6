"""Sinks other than one file per bundle: Kafka, and files by period of event time."""
