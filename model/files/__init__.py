"""Files of our own process: which may be opened, and which were left behind."""
