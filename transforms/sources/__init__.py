"""Sources that stream: logs with positions, replayed archives, Kafka and Pub/Sub."""
