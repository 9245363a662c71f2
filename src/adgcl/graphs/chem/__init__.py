"""Molecules: SMILES in, graphs, fingerprints and scaffolds out, by RDKit."""
