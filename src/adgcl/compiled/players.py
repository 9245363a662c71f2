"""A player's parameters, gradients and moments in flat buffers, updated by one loop."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from adgcl.compiled.rows import LANES, number, put_number
from adgcl.graphs.kernels.compiled import compiled
from adgcl.methods.optimizer import PlayerAdam


class Player:
    """Parameters laid out one after another in memory, with PlayerAdam's moments beside them.

    Nothing changes for other code: each parameter and each moment becomes a view of the flat buffers, so that
    checkpoints, `state_dict` and the method's own `step` see every update, and vice versa.
    """

    def __init__(self, optimizer: PlayerAdam, parameters: Sequence[nn.Parameter]) -> None:
        self.optimizer = optimizer
        size = sum(parameter.numel() for parameter in parameters)
        self.size = math.ceil(size / LANES) * LANES
        values, self.grads, means, squares = self._flat = torch.zeros(4, self.size)
        self.parameters, self._places = parameters, dict[nn.Parameter, int]()
        self.count = optimizer.state[parameters[0]]["step"]
        start = 0
        for parameter in parameters:
            mine = slice(start, start + parameter.numel())
            state = optimizer.state[parameter]
            for flat, old in ((values, parameter.data), (means, state["exp_avg"]), (squares, state["exp_avg_sq"])):
                flat[mine].view_as(old).copy_(old)
            parameter.data = values[mine].view_as(parameter)
            state["exp_avg"], state["exp_avg_sq"] = (flat[mine].view_as(parameter) for flat in (means, squares))
            self._places[parameter] = start
            start = mine.stop
        optimizer.collect()
        self._values_at, self.grads_at, *self._moments_at = (flat.data_ptr() for flat in self._flat)

    def address(self, parameter: nn.Parameter) -> int:
        """Where a parameter begins."""
        return self._values_at + 4 * self._places[parameter]

    def gradient(self, parameter: nn.Parameter) -> int:
        """Where a parameter's gradient begins."""
        return self.grads_at + 4 * self._places[parameter]

    def gradient_of(self, parameter: nn.Parameter) -> Tensor:
        """The gradient of a parameter, which a backward pass has added up."""
        start = self._places[parameter]
        return self.grads[start : start + parameter.numel()].view_as(parameter)

    def update(self, counting: bool = True) -> None:
        """One step of Adam on the gradients, which are then cleared.

        The parameters of an optimiser share one count: of several Players with the same one, one is `counting`.
        """
        group = self.optimizer.param_groups[0]
        if counting:
            self.count += 1
        _adam(
            self._values_at, self.grads_at, *self._moments_at, self.size, float(self.count), group["lr"],
            *group["betas"], group["eps"],
        )  # fmt: skip


@compiled
def _adam(
    values: int, grads: int, means: int, squares: int, size: int, step: float, lr: float, first: float, second: float,
    eps: float,
) -> None:  # fmt: skip
    pace = np.float32(lr / (1 - first**step))
    spread = np.float32(1 / np.sqrt(1 - second**step))
    keep, keep_square, least = np.float32(first), np.float32(second), np.float32(eps)
    add, add_square = np.float32(1 - first), np.float32(1 - second)
    for k in range(size):
        grad = number(grads, k)
        mean = keep * number(means, k) + add * grad
        square = keep_square * number(squares, k) + add_square * grad * grad
        put_number(means, k, mean)
        put_number(squares, k, square)
        put_number(values, k, number(values, k) - pace * mean / (np.sqrt(square) * spread + least))
        put_number(grads, k, np.float32(0))
