"""Formats: one renderer for each way a Table is printed."""
