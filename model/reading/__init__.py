"""Read files as records and documents; every record becomes a document or a dead letter."""
