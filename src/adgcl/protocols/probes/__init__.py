"""Probes: how good a matrix of embeddings is, measured by simple models trained on it."""

from adgcl.protocols.probes.folds import Folds, Mode
from adgcl.protocols.probes.judge import ProbeName, probe_folds, probe_parts, probe_split
from adgcl.protocols.probes.selection import ProbeScore

__all__ = ["Folds", "Mode", "ProbeName", "ProbeScore", "probe_folds", "probe_parts", "probe_split"]
