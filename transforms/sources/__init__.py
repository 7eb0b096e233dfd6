"""Sources that stream: logs with positions, archives that are replayed, Kafka, Pub/Sub."""
