"""The settings of our tables: which have a compiled step, and that it gives the plain step's numbers on real graphs."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from adgcl.experiments.planning import Request, plan
from adgcl.experiments.source import LoadedSource, Source
from adgcl.training.trainer import Trainer

ROWS = ("adgcl", "adgcl-best", "nadgcl", "graphcl", "joao", "joaov2")
# So small that nothing moves: the second half of a step would amplify the rounding of the first.
STILL = {"adgcl": ("encoder_lr", "augmenter_lr"), "nadgcl": ("lr",)}


@pytest.fixture(scope="module", params=["MUTAG", "IMDB-BINARY"])
def data(request, data_dir):
    return LoadedSource.of(Source(request.param, data_dir), None)


@pytest.mark.parametrize("mode", ["as_published", "strict"])
@pytest.mark.parametrize("row", ROWS)
def test_the_compiled_step_of_every_row_gives_the_plain_metrics(data, row, mode):
    names = STILL.get(row.partition("-")[0], ("lr",))
    flags = {"protocol": {"mode": mode}, "training": {"device": "cpu", "threads": 1}}
    request = Request(row, flags=flags).with_flags({"method": dict.fromkeys(names, 1e-12)})
    metrics = {}
    for step in ("plain", "compiled"):
        run = plan(data.content, request.with_setting("training.step", step)).run
        trainer = Trainer(run, data.seen(run.data).store)
        batch = trainer.store.batch(np.arange(32))
        metrics[step] = trainer._take_step(batch, trainer.generator)
    assert plan(data.content, request).run.training.step == "auto"
    torch.testing.assert_close(metrics["compiled"], metrics["plain"], rtol=1e-4, atol=1e-5)
