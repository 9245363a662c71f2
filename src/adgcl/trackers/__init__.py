"""Programs that keep the curves of many runs, one file each; none is used unless it is named."""
