"""Kernels: sparse products, messages, edge scores and similar, compiled or with torch."""
