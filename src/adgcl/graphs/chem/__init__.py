"""Molecules: SMILES to graphs, fingerprints and scaffolds, with RDKit."""
