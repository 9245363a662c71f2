"""Kernels: sparse products, messages, edge scores and the like, compiled or by torch."""
