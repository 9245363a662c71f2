"""Jobs: pieces of work in this process, in others on this machine, or elsewhere, through one seam."""
