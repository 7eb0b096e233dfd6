"""The command line: options, their checks, terminal output, progress and plots."""
