"""Targets: every kind of input that is read, a valid example of each, how to bend it, and what is then done with it."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.cli.conftest import MOLECULES, SMALL, write_molecules, write_tu
from tests.fuzz.mutators import Rng, as_text, as_tree, bent_bytes, either
from tests.record_cases import a_record


@dataclass(frozen=True)
class Target:
    """`make` writes a valid input, `bend` changes it in place, `use` reads it as a user's command would."""

    make: Callable[[Path], None]
    bend: Callable[[Path, Rng], None]
    use: Callable[[Path], Any]


TARGETS: dict[str, Target] = {}


def _one_of(*patterns: str, bend: Callable[[bytes, Rng], bytes]) -> Callable[[Path, Rng], None]:
    """Bend one of the files that match."""

    def change(folder: Path, rng: Rng) -> None:
        files = sorted(path for pattern in patterns for path in folder.glob(pattern))
        path = files[rng.integers(len(files))]
        path.write_bytes(bend(path.read_bytes(), rng))

    return change


_text = either(as_text, bent_bytes)
_json = either(lambda content, rng: _any(content, rng), bent_bytes)


# -- tables -----------------------------------------------------------------------------------------------------------


def _load(name: str, **options: Any) -> Callable[[Path], Any]:
    def use(folder: Path) -> Any:
        from adgcl.data.load import load_dataset
        from adgcl.data.statistics import count
        from adgcl.training.export import write_bad_rows

        dataset = load_dataset(folder / name, cache=False, **options)
        write_bad_rows(folder / "bad.csv", dataset.bad_rows)
        return count(dataset.store), repr(dataset), dataset.store.batch(np.arange(len(dataset)))

    return use


def _sdf(folder: Path) -> None:
    from rdkit import Chem

    with Chem.SDWriter(str(folder / "m.sdf")) as writer:
        for name, smiles, value in MOLECULES[:2]:
            molecule = Chem.MolFromSmiles(smiles)
            molecule.SetProp("_Name", name)
            molecule.SetProp("logp", str(value))
            writer.write(molecule)


def _xlsx(folder: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (("smiles", "y"), ("CCO", 1.5), ("CCN", 2)):
        book.active.append(row)
    book.save(folder / "m.xlsx")


def _gz(folder: Path) -> None:
    table = write_molecules(folder / "plain.csv").read_bytes()
    (folder / "m.csv.gz").write_bytes(gzip.compress(table, mtime=0))


TARGETS["csv"] = Target(lambda f: None if write_molecules(f / "m.csv") else None, _one_of("m.csv", bend=_text), _load("m.csv"))
TARGETS["csv.gz"] = Target(_gz, _one_of("m.csv.gz", bend=bent_bytes), _load("m.csv.gz"))
TARGETS["smi"] = Target(
    lambda f: (f / "m.smi").write_text("CCO ethanol\nc1ccccc1 benzene\n") and None, _one_of("m.smi", bend=_text), _load("m.smi")
)
TARGETS["sdf"] = Target(_sdf, _one_of("m.sdf", bend=_text), _load("m.sdf"))
TARGETS["xlsx"] = Target(_xlsx, _one_of("m.xlsx", bend=bent_bytes), _load("m.xlsx"))


# -- TU folders and zip files -----------------------------------------------------------------------------------------


def _tu_zip(folder: Path) -> None:
    tu = write_tu(folder / "TOYS", graphs=6)
    with zipfile.ZipFile(folder / "TOYS.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(tu.iterdir()):
            archive.write(path, path.name)
    shutil.rmtree(tu)


TARGETS["tu"] = Target(
    lambda f: None if write_tu(f / "TOYS", graphs=6) else None, _one_of("TOYS/*.txt", bend=_text), _load("TOYS")
)
TARGETS["tu.zip"] = Target(_tu_zip, _one_of("TOYS.zip", bend=bent_bytes), _load("TOYS.zip"))


# -- packed stores ----------------------------------------------------------------------------------------------------


def _store(folder: Path) -> None:
    from adgcl.data.load import load_dataset
    from adgcl.data.packed import save_dataset

    save_dataset(load_dataset(write_molecules(folder / "m.csv"), cache=False), folder / "d.graphs")


def _resealed(folder: Path, rng: Rng) -> None:
    """Change arrays or notes, with a checksum that fits: what a hostile file would do."""
    from adgcl.graphs.store.tensors import CHECKSUM, open_tensors, write_tensors

    path = folder / "d.graphs"
    file = open_tensors(path)
    arrays = {name: np.array(file.array(name)) for name in file.entries}
    metadata = {name: value for name, value in file.metadata.items() if name != CHECKSUM}
    if rng.integers(4) == 0:
        name = ("spec", "task", "notes")[rng.integers(3)]
        metadata[name] = as_tree(metadata[name].encode(), rng).decode("utf-8", "replace")
    else:
        names = sorted(arrays)
        name = names[rng.integers(len(names))]
        raw = arrays[name].reshape(-1).view(np.uint8)
        if rng.integers(6) == 0:
            arrays[name] = arrays[name][: int(rng.integers(len(arrays[name]) + 1))]
        elif len(raw):
            raw[rng.integers(len(raw), size=rng.integers(1, 4))] = rng.integers(0, 256)
    write_tensors(path, arrays, metadata)


def _use_store(folder: Path) -> None:
    from adgcl.data.packed import open_dataset
    from adgcl.data.statistics import count
    from adgcl.graphs.store.fingerprint import fingerprint
    from adgcl.methods.random_init import RandomInit
    from adgcl.training.embedding import embed_store
    from adgcl.training.export import align
    from adgcl.training.run_config import resolve

    dataset = open_dataset(folder / "d.graphs")
    store = dataset.store
    count(store), fingerprint(store), store.select(np.arange(len(store))[::-1]), list(dataset.smiles or ())
    config = resolve({"method": "random_init", "encoder": {"hidden_dim": 4, "num_layers": 1}})
    if sum(store.spec.node.sizes) + sum(store.spec.edge.sizes) < 10**6:
        align(dataset, embed_store(RandomInit(config.method, config.encoder, store.spec, store.task), store))


TARGETS["store"] = Target(_store, _one_of("d.graphs", bend=bent_bytes), _use_store)
TARGETS["store, resealed"] = Target(_store, _resealed, _use_store)


# -- runs and checkpoints ---------------------------------------------------------------------------------------------


@cache
def _made(kind: str) -> Path:
    """A run or model, trained once for the whole process."""
    import tempfile

    from adgcl.cli.main import main

    folder = Path(tempfile.mkdtemp(prefix="adgcl-fuzz-"))
    table = folder / "m.csv"
    table.write_text("smiles,y\n" + "".join(f"{'C' * (i % 9 + 1)}O,{i}.5\n" for i in range(30)))
    commands = {
        "run": ["pretrain", table, "--out", folder / "made", "--epochs", "1"],
        "model": ["finetune", "none", table, "--seeds", "1", "--split", "random", "--epochs", "1", "--out", folder / "made"],
    }
    assert main([str(word) for word in (*commands[kind], "--quiet", *SMALL)]) == 0
    return folder


def _copied(kind: str) -> Callable[[Path], None]:
    return lambda folder: shutil.copytree(_made(kind), folder, dirs_exist_ok=True) and None


def _bend_checkpoint(folder: Path, rng: Rng) -> None:
    path = folder / "made" / "checkpoint.safetensors"
    if rng.integers(2):
        path.write_bytes(bent_bytes(path.read_bytes(), rng))
        return
    from safetensors import safe_open
    from safetensors.torch import save_file

    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        about = file.metadata()["adgcl"]
    if rng.integers(3) == 0:
        names = sorted(tensors)
        name = names[rng.integers(len(names))]
        tensor = tensors.pop(name)
        tensors |= [{}, {name: tensor[:1].clone()} if tensor.dim() else {}, {f"{name}x": tensor}][rng.integers(3)]
    else:
        about = as_tree(about.encode(), rng).decode("utf-8", "replace")
    save_file(tensors, path, metadata={"adgcl": about})


def _use_run(folder: Path) -> None:
    from adgcl.experiments.application import embed_data
    from adgcl.experiments.planning import Request
    from adgcl.experiments.pretraining import pretrain
    from adgcl.experiments.source import Source

    embed_data(folder / "made", Source(folder / "m.csv"))
    pretrain(Source(folder / "m.csv"), folder / "made", Request(flags={"training": {"epochs": 2}}), resume=True)


def _use_files_of_run(folder: Path) -> None:
    from adgcl.reports.documents import write_curves
    from adgcl.reports.folders import kept_metrics
    from adgcl.training.run_folder import RunFolder

    RunFolder(folder / "made").keep_metrics_before(99)
    write_curves(folder / "made", folder / "curves.svg", kept_metrics(folder / "made"))


TARGETS["checkpoint"] = Target(_copied("run"), _bend_checkpoint, _use_run)
TARGETS["files of a run"] = Target(
    _copied("run"), _one_of("made/config.json", "made/metrics.jsonl", bend=_json), _use_files_of_run
)


# -- models -----------------------------------------------------------------------------------------------------------


def _bend_model(folder: Path, rng: Rng) -> None:
    """Bend any file of a model; half the time with seals that fit."""
    made = folder / "made"
    _one_of("model.json", "model.json", "domain.safetensors", bend=_json)(made, rng)
    if rng.integers(4) and (tree := _tree(made / "model.json")) is not None:
        files = tree.get("files")
        if isinstance(files, dict) and "domain.safetensors" in files:
            files["domain.safetensors"] = hashlib.sha256((made / "domain.safetensors").read_bytes()).hexdigest()
        tree.pop("seal", None)
        seal = hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()
        (made / "model.json").write_text(json.dumps({**tree, "seal": seal}))


def _any(content: bytes, rng: Rng) -> bytes:
    """Bend a tree, one line of several, or else the bytes."""
    if not content.startswith(b"{"):
        return bent_bytes(content, rng)
    try:
        return as_tree(content, rng)
    except ValueError:
        first, _, rest = content.partition(b"\n")
        return as_tree(first, rng) + b"\n" + rest


def _tree(path: Path) -> dict[str, Any] | None:
    try:
        tree = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    return tree if isinstance(tree, dict) else None


def _use_model(folder: Path) -> None:
    from adgcl.experiments.prediction import predict_data
    from adgcl.experiments.prediction_table import write_predictions
    from adgcl.experiments.source import Source

    write_predictions(folder / "p.csv", predict_data(folder / "made", Source(folder / "m.csv"), coverage=0.5))


TARGETS["model"] = Target(_copied("model"), _bend_model, _use_model)


# -- settings ---------------------------------------------------------------------------------------------------------

_TOML = """\
[method]
name = "adgcl"
reg_lambda = 5.0
[method.gate]
temperature = 0.5
[encoder]
hidden_dim = 16
[training]
epochs = 2
snapshots = [1, 2]
[protocol]
mode = "strict"
probes = ["linear"]
"""


@cache
def _dataset() -> Any:
    from adgcl.data.load import load_dataset

    return load_dataset(["CCO", "CCN", "c1ccccc1"])


def _plan(folder: Path) -> Any:
    from adgcl.experiments.planning import Request, plan

    assignments = (folder / "set.txt").read_text(encoding="utf-8", errors="surrogateescape").split("\n")
    config = folder / "c.toml" if (folder / "c.toml").exists() else None
    return plan(_dataset(), Request("adgcl", config, assignments=tuple(filter(None, assignments))))


def _settings(folder: Path) -> None:
    (folder / "c.toml").write_text(_TOML)
    (folder / "set.txt").write_text("")


def _assignments(folder: Path) -> None:
    lines = ("method.reg_lambda=5", "gate.temperature=0.5", "hidden_dim=16", "training.snapshots=[1,2]", "protocol.mode=strict")
    (folder / "set.txt").write_text("\n".join(lines))


def _bend_assignments(folder: Path, rng: Rng) -> None:
    path = folder / "set.txt"
    lines = path.read_text().split("\n")
    row = int(rng.integers(len(lines)))
    key, _, value = lines[row].partition("=")
    odd = ("[" * 2000, "1e999", "nan", "9" * 5000, "0x" + "f" * 5000, "{a={b=1}}", "'", "\x1b", "true", "1979-05-27", "")
    changes = (
        f"{key}={odd[rng.integers(len(odd))]}", f"{key}.{key}={value}", f"{'a.' * 3000}{key}={value}", f"{key}", f"={value}",
        bent_bytes(lines[row].encode(), rng).decode("utf-8", "replace"), f"{value}={key}", f"{key}\n{key}.x=1",
    )  # fmt: skip
    lines[row] = changes[rng.integers(len(changes))]
    path.write_text("\n".join(lines), encoding="utf-8")


TARGETS["toml"] = Target(_settings, _one_of("c.toml", bend=_text), _plan)
TARGETS["--set"] = Target(_assignments, _bend_assignments, _plan)


# -- Records and seeds ------------------------------------------------------------------------------------------------

_COURSE: dict[str, Any] = {"seed": 0, "folds": [88.0, None], "epochs": [1], "test": 88.0, "training": {"loss": 1.0}}


def _records(folder: Path) -> None:
    figure = {"table": "table1-tu", "method": "AD-GCL-FIX", "mean": 89.2, "std": 1.4}
    first = a_record(published=figure, runs=[_COURSE, {**_COURSE, "seed": 1}], machine={"processor": "x", "cores": 2})
    for record in (first, replace(first, method="random_init", published=None), replace(first, mode="as_published")):
        record.save(folder / "records")


def _report(folder: Path) -> None:
    from adgcl.reports.documents import WRITERS, write_report
    from adgcl.reports.folders import find_records
    from adgcl.reports.formats.terminal import to_text
    from adgcl.reports.record_tables import record_list
    from adgcl.reports.results_page import results_page

    records = find_records(folder / "records")
    to_text(record_list(records)), results_page(records)
    for ending in WRITERS:
        write_report(records, folder / f"r{ending}")


def _seed(folder: Path) -> None:
    from adgcl.protocols.seed_run import History, SeedRun
    from adgcl.protocols.selection import Evaluation

    made = Evaluation(1, "linear", 0.8, 0.7, (0.8,), (float("nan"),), (1.0,))
    SeedRun(0, (made,), {"loss": 1.0}).save(folder)
    History(folder).add([made, made], 2.0)


def _use_seed(folder: Path) -> None:
    from adgcl.protocols.seed_run import History, SeedRun

    if (run := SeedRun.load(folder)) is not None and run.evaluations:
        SeedRun.from_json(run.to_json())
    history = History(folder)
    history.forget_after(3)
    history.add([], 1.0)


TARGETS["record"] = Target(_records, _one_of("records/*.json", bend=_json), _report)
TARGETS["seed"] = Target(_seed, _one_of("result.json", "evaluations.jsonl", bend=_json), _use_seed)
