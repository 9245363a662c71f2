"""What adgcl saves as targets: checkpoints, runs, models, settings, Records and seeds."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.cli.conftest import SMALL
from tests.fuzz.mutators import Rng, as_tree, bent_bytes
from tests.fuzz.target import Target, one_of, text, trees
from tests.record_cases import a_record

SAVED: dict[str, Target] = {}


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
        "model": [
            "finetune",
            "none",
            table,
            "--seeds",
            "1",
            "--split",
            "random",
            "--epochs",
            "1",
            "--out",
            folder / "made",
        ],
    }
    assert main([str(word) for word in (*commands[kind], "--quiet", *SMALL)]) == 0
    return folder


def _copied(kind: str) -> Callable[[Path], Any]:
    return lambda folder: shutil.copytree(_made(kind), folder, dirs_exist_ok=True)


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


SAVED["checkpoint"] = Target(_copied("run"), _bend_checkpoint, _use_run)
SAVED["files of a run"] = Target(
    _copied("run"), one_of("made/config.json", "made/metrics.jsonl", bend=trees), _use_files_of_run
)


# -- models -----------------------------------------------------------------------------------------------------------


def _bend_model(folder: Path, rng: Rng) -> None:
    """Bend any file of a model; half the time with seals that fit."""
    made = folder / "made"
    one_of("model.json", "model.json", "domain.safetensors", bend=trees)(made, rng)
    if rng.integers(4) and (tree := _tree(made / "model.json")) is not None:
        files = tree.get("files")
        if isinstance(files, dict) and "domain.safetensors" in files:
            files["domain.safetensors"] = hashlib.sha256((made / "domain.safetensors").read_bytes()).hexdigest()
        tree.pop("seal", None)
        seal = hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()
        (made / "model.json").write_text(json.dumps({**tree, "seal": seal}))


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


SAVED["model"] = Target(_copied("model"), _bend_model, _use_model)


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
    lines = (
        "method.reg_lambda=5",
        "gate.temperature=0.5",
        "hidden_dim=16",
        "training.snapshots=[1,2]",
        "protocol.mode=strict",
    )
    (folder / "set.txt").write_text("\n".join(lines))


def _bend_assignments(folder: Path, rng: Rng) -> None:
    path = folder / "set.txt"
    lines = path.read_text().split("\n")
    row = int(rng.integers(len(lines)))
    key, _, value = lines[row].partition("=")
    odd = (
        "[" * 2000,
        "1e999",
        "nan",
        "9" * 5000,
        "0x" + "f" * 5000,
        "{a={b=1}}",
        "'",
        "\x1b",
        "true",
        "1979-05-27",
        "",
    )
    changes = (
        f"{key}={odd[rng.integers(len(odd))]}", f"{key}.{key}={value}", f"{'a.' * 3000}{key}={value}", f"{key}",
        f"={value}", bent_bytes(lines[row].encode(), rng).decode("utf-8", "replace"), f"{value}={key}",
        f"{key}\n{key}.x=1",
    )  # fmt: skip
    lines[row] = changes[rng.integers(len(changes))]
    path.write_text("\n".join(lines), encoding="utf-8")


SAVED["toml"] = Target(_settings, one_of("c.toml", bend=text), _plan)
SAVED["--set"] = Target(_assignments, _bend_assignments, _plan)


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


SAVED["record"] = Target(_records, one_of("records/*.json", bend=trees), _report)
SAVED["seed"] = Target(_seed, one_of("result.json", "evaluations.jsonl", bend=trees), _use_seed)
