"""GraphStore, GraphBatch and View: many graphs in flat arrays, in memory and on disk."""
