"""The command `adgcl`: each file parses options, calls the library and prints."""
