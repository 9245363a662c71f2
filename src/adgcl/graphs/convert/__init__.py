"""Conversion from and to other libraries: PyTorch Geometric and NetworkX."""

from __future__ import annotations

from adgcl.graphs.convert.networkx import from_networkx, to_networkx
from adgcl.graphs.convert.pyg import from_pyg, to_pyg

__all__ = ["from_networkx", "from_pyg", "to_networkx", "to_pyg"]
