"""The command `adgcl`: every file parses, calls the library and prints."""
