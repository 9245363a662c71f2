"""Jobs: work in this process, in others on this machine, or elsewhere, through one interface."""
