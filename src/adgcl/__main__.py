"""`python -m adgcl` is the command `adgcl`."""

from adgcl.cli.entry import run

if __name__ == "__main__":
    run()
