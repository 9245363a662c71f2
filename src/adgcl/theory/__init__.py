"""The optimum that the paper argues about, computed exactly on all graphs of a few nodes."""
