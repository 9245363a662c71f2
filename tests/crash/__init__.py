"""Every command that writes, killed at any moment and inside every write: the next call finishes as if nothing was."""
