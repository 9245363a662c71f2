"""Probes: how good is one matrix of embeddings, judged by simple models trained on top of it."""

from adgcl.protocols.probes.folds import Folds, Mode
from adgcl.protocols.probes.judge import ProbeName, probe_folds, probe_split
from adgcl.protocols.probes.selection import ProbeScore

__all__ = ["Folds", "Mode", "ProbeName", "ProbeScore", "probe_folds", "probe_split"]
