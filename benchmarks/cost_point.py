"""One point of the cost table, in its own process: the time and memory that a piece of work takes."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from adgcl.core.schema import Task
from adgcl.graphs.store.store import GraphStore, pack
from benchmarks.timing import seconds


@dataclass(frozen=True)
class Point:
    """A piece of work and its sizes; `edges` are undirected, nodes and edges are per graph."""

    work: str
    graphs: int = 128
    batch: int = 32
    nodes: int = 64
    edges: int = 128
    width: int = 32
    seeds: int = 1


@dataclass(frozen=True)
class Cost:
    """Time, the memory the work took, and what the program took before it (0 where the two cannot be separated)."""

    seconds: float
    megabytes: float
    program: float


def measure(point: Point) -> Cost:
    """Do the work in a new process, on graphs made in this one, because making them takes memory too."""
    from adgcl.graphs.store.storage import save_store

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "random.graphs"
        if point.work != "evaluation":
            save_store(make_store(point, labels=point.work == "protocol"), path)
        command = [sys.executable, "-m", "benchmarks.cost_point", json.dumps(asdict(point)), str(path)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def make_store(point: Point, labels: bool = False) -> GraphStore:
    """Random graphs of exactly these sizes."""
    rng = np.random.default_rng(0)
    high, low = np.tril_indices(point.nodes, -1)
    picked = np.concatenate([rng.permutation(len(high))[: point.edges] for _ in range(point.graphs)])
    ends = np.stack([high[picked], low[picked]])
    both = np.stack([ends, ends[::-1]], axis=2).reshape(2, -1)
    y = rng.integers(0, 2, point.graphs) if labels else None
    task = Task("multiclass", num_classes=2) if labels else None
    counts = np.full(point.graphs, point.nodes), np.full(point.graphs, 2 * point.edges)
    return pack(*counts, both, y=y, task=task)


def training(point: Point, store: GraphStore, epochs: int = 5) -> float:
    """The best of several epochs, in CPU time, which other programs on the machine disturb least."""
    from adgcl.training.run_config import resolve
    from adgcl.training.trainer import Trainer

    times = [time.process_time()]
    settings = {"epochs": epochs, "batch_size": point.batch, "device": "cpu", "threads": 1}
    run = resolve({"method": "adgcl", "encoder": {"hidden_dim": point.width}, "training": settings})
    Trainer(run, store).fit(lambda epoch: times.append(time.process_time()))
    return float(np.diff(times)[1:].min())


def evaluation(point: Point, rounds: int = 3) -> float:
    """The best of several evaluations of the published protocol, in CPU time."""
    from adgcl.training.device import one_blas_thread
    from benchmarks.probe_speed import Size, embeddings_like_gin, our_probe

    x, y = embeddings_like_gin(Size("", point.graphs, point.width))
    times = [time.process_time()]
    with one_blas_thread():  # as the protocols do; waiting threads would count as work
        for _ in range(rounds):
            our_probe(x, y, 0)
            times.append(time.process_time())
    return float(np.diff(times).min())


def protocol(point: Point, store: GraphStore) -> float:
    """Training and evaluation of several seeds, two at a time, in wall time."""
    from adgcl.data.dataset import Dataset, Origin
    from adgcl.experiments.evaluation import Work, evaluate
    from adgcl.experiments.planning import Request
    from adgcl.experiments.source import Source

    flags = {
        "training": {"epochs": 20, "device": "cpu", "threads": 1},
        "data": {"features": "labels"},
        "protocol": {"mode": "as_published", "evaluate_every": 5},
    }
    source = Source(Dataset("random", store, Origin("generated")))
    request = Request("adgcl", flags=flags)
    return seconds(lambda: evaluate(source, request, range(point.seeds), Work(jobs=2)))


def main() -> None:
    """Print the cost of the point given on the command line, for the store at the given path."""
    from adgcl.graphs.store.storage import open_store

    point, path = Point(**json.loads(sys.argv[1])), Path(sys.argv[2])
    small = Point(point.work, graphs=60, batch=20, nodes=8, edges=8, width=8)
    before = 0.0
    if point.work == "protocol":
        took = protocol(point, open_store(path))
        # Each seed has its own process; at most two run at a time.
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024 * min(2, point.seeds)
    elif point.work == "training":
        training(small, make_store(small), epochs=2)
        before = _peak()
        took = training(point, open_store(path))
        memory = _peak() - before
    else:
        evaluation(small, rounds=1)
        before = _peak()
        took = evaluation(point)
        memory = _peak() - before
    print(json.dumps(asdict(Cost(round(took, 5), round(memory, 1), round(before)))))


def _peak() -> float:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
