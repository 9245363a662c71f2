"""`python -m adgcl` is the command `adgcl`."""

from adgcl.cli.main import run

if __name__ == "__main__":
    run()
