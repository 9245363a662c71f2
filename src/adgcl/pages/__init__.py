"""Pages to look at and to send: one self-contained HTML file each, which opens from disk and loads nothing."""
