"""The command line: options, their checks, terminal output, and progress."""
