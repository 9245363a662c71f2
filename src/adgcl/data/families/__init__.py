"""Families of known data sets, one file each."""
