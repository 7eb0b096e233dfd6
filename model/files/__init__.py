"""Local files: regular files, and temporary files that were left behind."""
