"""A fine-tuned model: its members, what their predictions are worth, and the folder it is kept in."""
