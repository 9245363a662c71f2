"""Published tables made again: rows, cells, what each needs, and the Records that come of it."""
