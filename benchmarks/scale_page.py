"""The tables of docs/scale.md: what was measured, and what follows for 100 million molecules and 1,000 GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_MOLECULES = 100_000_000
_GPUS = (8, 64, 256, 1000)
# Assumed, since none of it is here to be measured: a good network of a GPU cluster.
_BYTES_PER_SECOND, _SECONDS_PER_EXCHANGE, _GPUS_PER_MACHINE = 25e9, 30e-6, 8
_BATCH = 256
_PARTS = ("gradients", "negatives", "statistics", "other")


def render(tree: Mapping[str, Any]) -> str:
    """All tables."""
    parts = [f"Measured on {tree['machine']} ({tree['measured']})."]
    parts += ["### The store", _store(tree["store"])]
    parts += ["### What a step exchanges", _exchanges(tree["exchange"]), _times(tree["exchange"])]
    parts += ["### 100 million molecules", _large(tree["store"], tree["step"])]
    parts += ["### 1,000 GPUs", _CLUSTER, _cluster(tree["exchange"]["2"], tree["store"]["edges"])]
    return "\n\n".join(parts) + "\n"


_CLUSTER = """Derived for 256 molecules per GPU: the milliseconds that exchanges add to a step, if each GPU sends and
receives 25 GB/s and an exchange takes at least 30 microseconds. *Noise* is the milliseconds that a core of this machine
takes to draw the noise of the whole batch; *similarities* is the memory for the similarities between a GPU's own
molecules and all others, in 32 bits."""


def _store(store: Mapping[str, Any]) -> str:
    count = store["molecules"]
    rows = [
        ("molecules (atoms and directed edges of each)", f"{count:,} ({store['atoms']:.1f}, {store['edges']:.1f})"),
        ("on disk, for each molecule", f"{store['bytes'] / count:.0f} bytes"),
        ("opening, the first time, when everything in it is checked", f"{store['checking']:.1f} s"),
        ("opening, later", f"{store['opening']:.2f} s"),
        ("its fingerprint, which every run begins with", f"{store['fingerprint']:.1f} s"),
        ("memory of a process, for each molecule: where it starts", f"{_each(store, 'pointers'):.0f} bytes"),
        ("memory of a process, for each molecule: the order of an epoch", f"{_each(store, 'order'):.0f} bytes"),
        ("shuffling, for each epoch", f"{store['shuffling']:.2f} s"),
        (f"shuffled batches of {_BATCH}, one core", f"{store['batches_per_second']:,.0f} batches/s"),
        ("memory of a process after that, without pages of the file", f"{store['megabytes']:,.0f} MB"),
    ]
    return _table(("a store of ten million molecules", "measured"), rows)


def _each(store: Mapping[str, Any], what: str) -> float:
    """Bytes of memory for each molecule."""
    return float(store[what]) * 2**20 / float(store["molecules"])


def _exchanges(exchange: Mapping[str, Any]) -> str:
    counted = exchange["2"]["exchanges"]
    players = exchange["2"]["parameters"]
    said = ", ".join(f"{name} {count:,} parameters" for name, count in players.items())
    rows = [(_NAMES[name], counted[name][0], f"{counted[name][1] / 1000:,.1f} kB") for name in _PARTS]
    head = f"AD-GCL on Hu's GIN of width 300, alternating update ({said}).\nWhat one of two processes puts into a step:"
    return f"{head}\n\n{_table(('16 molecules per process', 'exchanges', 'size'), rows)}"


_NAMES = {
    "gradients": "gradients of both players",
    "negatives": "embeddings for the negatives of all processes",
    "statistics": "sums for batch normalisation",
    "other": "metrics, counts, whether to stop",
}
_TIMED = {
    "encoder": "gradients of the encoder",
    "augmenter": "gradients of the augmenter",
    "negatives": f"embeddings of {_BATCH} molecules each",
    "statistics": "sums of one normalisation",
}


def _times(exchange: Mapping[str, Any]) -> str:
    rows = [(title, *(_time(name, *found) for found in exchange.items())) for name, title in _TIMED.items()]
    head = "Time of one exchange over loopback (gloo), by processes on this machine:"
    return f"{head}\n\n{_table(('', *exchange), rows)}"


def _time(name: str, size: str, found: Mapping[str, Any]) -> str:
    return f"{1000 * found['seconds'][name]:.2f} ms" if int(size) > 1 else "0"


def _large(store: Mapping[str, Any], step: Mapping[str, Any]) -> str:
    scale = _MOLECULES / store["molecules"]
    speed = step["batch"] / step["seconds"]
    first, later = store["checking"] * scale / 60, store["opening"] * scale
    per_machine = (_each(store, "pointers") + _each(store, "order")) * _MOLECULES * _GPUS_PER_MACHINE
    rows = [
        ("on disk", f"{store['bytes'] * scale / 1e9:.0f} GB"),
        (f"memory of {_GPUS_PER_MACHINE} processes on a machine, besides networks", f"{per_machine / 1e9:.1f} GB"),
        ("opening, the first time; later", f"{first:.0f} min; {later:.1f} s"),
        ("its fingerprint, which every run begins with", f"{store['fingerprint'] * scale:.0f} s"),
        ("shuffling, for each epoch", f"{store['shuffling'] * scale:.0f} s"),
        ("reading an epoch, one core", f"{_MOLECULES / _BATCH / store['batches_per_second'] / 60:.0f} min"),
        ("training, molecules per second and core of this machine", f"{speed:.0f}"),
        ("training an epoch, days of one core", f"{_MOLECULES / speed / 86400:.1f}"),
    ]
    return _table(("", "100 million molecules"), rows)


def _cluster(found: Mapping[str, Any], edges: float) -> str:
    rows = [_at(gpus, found, edges) for gpus in _GPUS]
    columns = (
        "GPUs", "molecules in a step", "steps in an epoch", "gradients", "negatives", "other", "sum", "noise",
        "similarities",
    )  # fmt: skip
    return _table(columns, rows)


def _at(gpus: int, found: Mapping[str, Any], edges: float) -> tuple[str, ...]:
    """What a step exchanges if every GPU has a batch of its own; a ring sends each byte twice, a gather once."""
    counted, row = found["exchanges"], 4 * found["row"]
    share = (gpus - 1) / gpus
    gradients = _seconds(2 * share * counted["gradients"][1], counted["gradients"][0])
    # A third of these exchanges gathers rows, a third adds up their gradients, a third says how many there are.
    losses = counted["negatives"][0] // 3
    negatives = _seconds(3 * share * losses * gpus * _BATCH * row, counted["negatives"][0])
    small = _seconds(2 * share * counted["statistics"][1], counted["statistics"][0] + counted["other"][0])
    molecules = gpus * _BATCH
    # Both players draw a number for each edge.
    noise = 2 * molecules * edges * found["seconds"]["noise of 10,000 edges"] / 10_000
    times = gradients, negatives, small, gradients + negatives + small, noise
    numbers = [f"{1000 * seconds:.1f}" for seconds in times]
    similarities = f"{4 * _BATCH * molecules / 1e6:,.0f} MB"
    return f"{gpus:,}", f"{molecules:,}", f"{_MOLECULES // molecules:,}", *numbers, similarities


def _seconds(size: float, exchanges: int) -> float:
    return size / _BYTES_PER_SECOND + exchanges * _SECONDS_PER_EXCHANGE


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"| --- |{' ---: |' * (len(head) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])
