"""Families of known data sets, a file each."""
