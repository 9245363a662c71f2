"""Published tables, reproduced: rows, cells, the jobs they need, and the resulting Records."""
