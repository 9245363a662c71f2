"""Adam with one kernel call for all parameters of a player."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer


def _unwrapped(function: Any) -> Any:
    """The function itself: torch's wrapper loads torch's compiler first, which takes two seconds and is not used."""
    return getattr(function, "__wrapped__", function)


class PlayerAdam(Optimizer):
    """Adam (Kingma and Ba 2015) with default betas and no decay.

    torch's own fused Adam counts the steps of every parameter separately, which costs more than the update itself when
    parameters are small; here all parameters of a player share one count.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float,
        betas: tuple[float, float] = (0.9, 0.999),
    ) -> None:
        super().__init__(parameters, {"lr": lr, "betas": betas, "eps": 1e-8})
        for group in self.param_groups:
            count = torch.zeros((), device=group["params"][0].device)
            for parameter in group["params"]:
                moments = {"exp_avg": torch.zeros_like(parameter), "exp_avg_sq": torch.zeros_like(parameter)}
                self.state[parameter] = {"step": count, **moments}

        self.collect()

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every parameter that has a gradient."""
        for group, (count, rows) in zip(self.param_groups, self._rows):
            moving = [(p, grad, *moments) for p, *moments in rows if (grad := p.grad) is not None]
            if not moving:
                continue
            count.add_(1)
            parameters, grads, means, squares = map(list, zip(*moving))
            torch._fused_adam_(
                parameters, grads, means, squares, [], [count] * len(moving), lr=group["lr"],
                beta1=group["betas"][0], beta2=group["betas"][1], weight_decay=0.0, eps=group["eps"], amsgrad=False,
                maximize=False,
            )  # fmt: skip

    def collect(self) -> None:
        """For each group, its step count and every parameter with its moments: looked up once, not in every step."""
        self._rows: list[tuple[Tensor, list[tuple[nn.Parameter, Tensor, Tensor]]]] = [
            (
                self.state[group["params"][0]]["step"],
                [(p, self.state[p]["exp_avg"], self.state[p]["exp_avg_sq"]) for p in group["params"]],
            )
            for group in self.param_groups
        ]

    add_param_group = _unwrapped(Optimizer.add_param_group)
    state_dict = _unwrapped(Optimizer.state_dict)

    # torch would wrap `step` to show it to its profiler, which costs as much as a kernel call.
    step.hooked = True  # type: ignore[attr-defined]

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore into the existing tensors, which other code may refer to, and share one step count again."""
        held = [(parameter, self.state[parameter]) for group in self.param_groups for parameter in group["params"]]
        _unwrapped(Optimizer.load_state_dict)(self, state_dict)
        for parameter, old in held:
            new = self.state[parameter]
            for name, tensor in old.items():
                tensor.copy_(new[name])
            self.state[parameter] = old
        self.collect()
