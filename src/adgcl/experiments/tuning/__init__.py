"""Tuning: a search for good settings on validation data, by several processes and machines, with Optuna."""
