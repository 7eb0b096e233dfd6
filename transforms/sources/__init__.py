"""Sources that stream: logs with positions, replayed archives and Kafka."""
