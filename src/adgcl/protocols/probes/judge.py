"""Evaluate one matrix of graph embeddings, by cross-validation or on a given split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adgcl.core.errors import ConfigError
from adgcl.core.schema import Task
from adgcl.protocols.probes.checks import Labelled, check_labelled, check_split
from adgcl.protocols.probes.folds import Folds, Mode, cross_validation, given_parts, given_split
from adgcl.protocols.probes.kernel import KernelCandidates
from adgcl.protocols.probes.linear import LinearCandidates
from adgcl.protocols.probes.selection import ProbeScore, judge
from adgcl.protocols.solvers.arrays import Ints

ProbeName = Literal["linear", "svm"]


def probe_folds(
    graph_emb: ArrayLike,
    y: ArrayLike,
    task: Task,
    *,
    probe: ProbeName,
    mode: Mode,
    seed: int,
    num_folds: int = 10,
) -> ProbeScore:
    """Evaluate embeddings `[n, d]` by cross-validation; graphs without a label are left out.

    `as_published`: shuffled folds of 72 % training, 18 % validation, 10 % test. The scaler sees the whole
    training part, C is chosen in it by 5-fold cross-validation, and the model is scored on the other two.

    `strict`: stratified folds of 90 % training, 10 % test. C is chosen by nested 5-fold cross-validation with
    its own scaler in every inner fold, and the best inner score is the fold's validation score.
    """
    _check_names(probe, mode, num_folds)
    data = check_labelled(graph_emb, y, task)
    data = data.at(data.has_label)
    return _judge(data, cross_validation(data, mode, seed, num_folds), probe, mode)


def probe_split(
    graph_emb: ArrayLike,
    y: ArrayLike,
    task: Task,
    split: Mapping[str, NDArray[np.integer]],
    *,
    probe: ProbeName,
    mode: Mode,
    seed: int = 0,
) -> ProbeScore:
    """Evaluate embeddings `[n, d]` on a given split: ids of the train, valid and test graphs.

    `as_published`: the penalty is chosen by 5-fold cross-validation on train, by the metric of the task;
    several binary tasks get C = 1, and their missing labels count as 0 in training.

    `strict`: the penalty is chosen on valid, separately for each task; missing labels are left out.

    Nothing is random here: `seed` is accepted so that both functions have the same signature.
    """
    _check_names(probe, mode, 2)
    data = check_labelled(graph_emb, y, task)
    return _judge(data, given_split(data, check_split(split, data), mode), probe, mode)


def probe_parts(
    graph_emb: ArrayLike, y: ArrayLike, task: Task, parts: Sequence[tuple[Ints, Ints]], *, seed: int
) -> ProbeScore:
    """Evaluate embeddings `[n, d]` with a linear probe on pairs of training and test graphs, in strict mode.

    The training part may be tiny: where its inner folds cannot score a penalty, the middle of the grid is taken.
    """
    data = check_labelled(graph_emb, y, task)
    folds = given_parts(data, parts, seed)
    return judge(data, folds, LinearCandidates(data, folds, "strict"), "strict", may_be_blind=True)


def _judge(data: Labelled, folds: Folds, probe: ProbeName, mode: Mode) -> ProbeScore:
    candidates = (LinearCandidates if probe == "linear" else KernelCandidates)(data, folds, mode)
    return judge(data, folds, candidates, mode)


def _check_names(probe: str, mode: str, num_folds: int) -> None:
    if probe not in ("linear", "svm"):
        raise ConfigError(f"There is no probe called {probe!r}.", "Known: linear, svm.")
    if mode not in ("as_published", "strict"):
        raise ConfigError(f"There is no mode called {mode!r}.", "Known: as_published, strict.")
    if num_folds < 2:
        raise ConfigError(f"Cross-validation needs at least 2 folds, not {num_folds}.")
