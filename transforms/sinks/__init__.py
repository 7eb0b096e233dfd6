"""Sinks beside plain files: Kafka, and files gathered by period."""
