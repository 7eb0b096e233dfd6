"""What is stored and sent: bytes with a version, and the checks of what is read."""
