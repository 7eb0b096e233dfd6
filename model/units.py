"""Units of memory."""

MEGABYTE = 2**20
