"""Readers of text: tables of SMILES, TU-format files, the CSV files of known sets."""
