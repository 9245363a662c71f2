"""AD-GCL's loss written out in 64 bits, for autograd to differentiate: what the compiled step is held against."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from adgcl.augmentations.gates import logistic_noise, relaxed_bernoulli


class SlowADGCL:
    """The networks of a method as 64-bit leaves, by the names they have in its `state_dict`."""

    def __init__(self, method, batch):
        self.config, self.encoder, self.batch = method.config, method.encoder.config, batch
        self.leaves = {n: p.detach().double().requires_grad_() for n, p in method.named_parameters()}
        self.buffers = {n: b.detach().double() for n, b in method.named_buffers() if "running" in n}
        self.x = method.encoder.inputs(batch).double()

    def states(self, prefix, keep, own):
        """The rows after every layer."""
        h, states = self.x, []
        for i in range(self.encoder.num_layers):
            at = f"{prefix}encoder.layers.{i}."
            messages = h[self.batch.col] * (1.0 if keep is None else keep[:, None])
            summed = h.index_add(0, self.batch.target, messages)
            hidden = F.linear(summed, self.leaves[at + "first.weight"], self.leaves[at + "first.bias"]).relu()
            h = F.linear(hidden, self.leaves[at + "second.weight"])
            mean, var = self.buffers[at + "norm.running_mean"], self.buffers[at + "norm.running_var"]
            if own:
                mean, var = h.mean(0), h.var(0, unbiased=False)
            h = (h - mean) / (var + 1e-5).sqrt() * self.leaves[at + "norm.weight"] + self.leaves[at + "norm.bias"]
            h = h.relu() if i < self.encoder.num_layers - 1 else h
            states.append(h)
        return states

    def keep(self, seed, own):
        """The weights of edges that noise from `seed` gives."""
        h = self.states("augmenter.", None, own)[-1]
        as_source, as_target = self.leaves["augmenter.ends.weight"].chunk(2)
        hidden = h[self.batch.col] @ as_source.t() + h[self.batch.target] @ as_target.t()
        hidden = (hidden + self.leaves["augmenter.bias"]).relu()
        score = self.leaves["augmenter.score.weight"], self.leaves["augmenter.score.bias"]
        logits = F.linear(hidden, *score).squeeze(1)
        noise = logistic_noise(self.batch.num_edges, torch.Generator().manual_seed(seed)).double()
        if self.config.gate.tied and self.batch.reverse is not None:
            logits = (logits + logits[self.batch.reverse]) / 2
            noise = noise[torch.minimum(self.batch.reverse, torch.arange(len(noise)))]
        return relaxed_bernoulli(logits, noise, self.config.gate.temperature, self.config.gate.hard)

    def z(self, keep, own):
        states = self.states("", keep, own)
        rows = torch.cat(states, 1) if self.encoder.layers == "all" else states[-1]
        pooled = rows.new_zeros(self.batch.num_graphs, rows.shape[1]).index_add(0, self.batch.batch, rows)
        if self.encoder.readout == "mean":
            pooled = pooled / self.batch.node_counts[:, None]
        hidden = F.linear(pooled, self.leaves["head.0.weight"], self.leaves["head.0.bias"]).relu()
        return F.linear(hidden, self.leaves["head.2.weight"], self.leaves["head.2.bias"])

    def loss(self, keep, own):
        z, z_view = F.normalize(self.z(None, own)), F.normalize(self.z(keep, own))
        likeness = z @ z_view.t() / self.config.temperature
        negatives = likeness.masked_fill(torch.eye(len(z), dtype=torch.bool), -torch.inf)
        against = negatives.logsumexp(1).mean()
        if self.config.directions == "both":
            against = (against + negatives.logsumexp(0).mean()) / 2
        return against - likeness.diagonal().mean()

    def price(self, keep):
        """`reg_lambda` times the mean over graphs with edges of the mean of what is dropped."""
        dropped = keep.new_zeros(self.batch.num_graphs).index_add(0, self.batch.batch[self.batch.target], 1 - keep)
        counts = self.batch.edge_counts
        return self.config.reg_lambda * (dropped / counts.clamp(min=1)).sum() / (counts > 0).sum().clamp(min=1)
