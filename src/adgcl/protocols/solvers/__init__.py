"""Convex solvers that fit many linear models on the same rows together."""

from adgcl.protocols.solvers.linear_svc import fit_linear_svc, one_vs_rest, predict_classes
from adgcl.protocols.solvers.logistic import fit_logistic
from adgcl.protocols.solvers.newton import LinearModels
from adgcl.protocols.solvers.ridge import fit_ridge
from adgcl.protocols.solvers.scaling import Scaling, fit_scaling, no_scaling

__all__ = [
    "LinearModels",
    "Scaling",
    "fit_linear_svc",
    "fit_logistic",
    "fit_ridge",
    "fit_scaling",
    "no_scaling",
    "one_vs_rest",
    "predict_classes",
]
