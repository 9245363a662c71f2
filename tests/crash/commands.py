"""The commands that write, each with what it needs and what it leaves; a new command is one more entry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adgcl.cli.main import main
from tests.cli.conftest import SMALL, write_tu
from tests.record_cases import a_record

_QUICK = ("--set", "training.checkpoint_seconds=0", *SMALL)


@dataclass(frozen=True)
class Command:
    """The words of a command that runs in a folder of its own, those of the call that finishes it (by default the
    same), and what must be there in the end."""

    words: tuple[str, ...]
    leaves: tuple[str, ...]
    again: tuple[str, ...] = ()

    @property
    def second(self) -> Sequence[str]:
        return (*self.words, *self.again)


COMMANDS: dict[str, Command] = {
    "pretrain": Command(
        ("pretrain", "m.csv", "--out", "out", "--epochs", "3", "--set", "training.snapshots=[1,2]", *_QUICK),
        ("out/**/*",), ("--resume",),
    ),
    "finetune": Command(
        ("finetune", "run", "labelled.csv", "--out", "out", "--seeds", "2", "--epochs", "2", "--split", "random",
         "--set", "training.checkpoint_seconds=0"),
        ("out/*",),
    ),
    "embed": Command(("embed", "run", "m.csv", "--out", "out.csv"), ("out.csv",)),
    "embed, npy": Command(("embed", "run", "m.csv", "--out", "out.npy"), ("out.npy",)),
    "embed, parquet": Command(("embed", "run", "m.csv", "--out", "out.parquet"), ("out.parquet",)),
    "predict": Command(("predict", "model", "m.csv", "--coverage", "0.5", "--out", "out.csv"), ("out.csv",)),
    "prepare": Command(("data", "prepare", "freesolv"), ("packed/*.graphs",)),
    "evaluate": Command(
        ("evaluate", "TOYS", "--seeds", "2", "--jobs", "1", "--epochs", "2", "--out", "out", "--work", "work",
         "--set", "protocol.num_folds=2", *_QUICK),
        ("out/*", "work/**/*"),
    ),
    "evaluate, supervised": Command(
        ("evaluate", "TOYS", "--method", "supervised", "--seeds", "1", "--jobs", "1", "--epochs", "2", "--out", "out",
         "--work", "work", "--set", "protocol.num_folds=2", *_QUICK),
        ("out/*", "work/**/*"),
    ),
    "reproduce": Command(
        ("reproduce", "table1-tu", "--datasets", "MUTAG", "--methods", "random_init", "--seeds", "2", "--executor",
         "inline", "--jobs", "1", "--out", "out", "--work", "work", *SMALL),
        ("out/*", "work/**/*"),
    ),
    "sweep": Command(
        ("sweep", "--grid", "reg_lambda=1,5", "--datasets", "TOYS", "--seeds", "1", "--epochs", "2", "--executor",
         "inline", "--jobs", "1", "--out", "out", "--work", "work", "--set", "protocol.num_folds=2", *_QUICK),
        ("out/*.csv", "out/courses.parquet", "work/**/*"),
    ),
    "export": Command(("export", "run", "--out", "out.safetensors"), ("out.safetensors",)),
    "describe": Command(("data", "describe", "m.csv", "--out", "out.graphs"), ("out.graphs",)),
    "explain": Command(("explain", "run", "m.csv", "--out", "out.parquet"), ("out.parquet",)),
    "map": Command(("map", "run", "m.csv", "--projection", "pca", "--out", "out.html"), ("out.html",)),
    "tune": Command(
        ("tune", "TOYS", "--trials", "3", "--search", "reg_lambda", "--seeds", "1", "--jobs", "1", "--epochs", "2",
         "--out", "out", "--work", "work", "--set", "protocol.num_folds=2", "--set", "evaluate_every=1", *_QUICK),
        ("out/best.toml", "out/*.json", "work/**/*"),
    ),
    "report": Command(("report", "records", "--out", "out.html"), ("out.html",)),
}  # fmt: skip


def make_world(folder: Path) -> None:
    """Everything that the commands need: tables, graphs, Records, a trained run and a model."""
    folder.mkdir(parents=True)
    rows = [f"{'C' * (i % 9 + 1)}{'NOSF'[i % 4]},{i}.5" for i in range(30)]
    (folder / "m.csv").write_text("smiles\n" + "\n".join(row.partition(",")[0] for row in rows[:9]) + "\nC1C\n")
    (folder / "labelled.csv").write_text("smiles,y\n" + "\n".join(rows) + "\n")
    write_tu(folder / "TOYS", graphs=16)
    a_record().save(folder / "records")
    _made(folder, "pretrain", "m.csv", "--out", "run", "--epochs", "1", *SMALL)
    _made(folder, "finetune", "none", "labelled.csv", "--out", "model", "--seeds", "1", "--split", "random", "--epochs",
          "1", *SMALL)  # fmt: skip


def _made(folder: Path, *words: str) -> None:
    inside(folder, lambda: main([*words, "--json", "--quiet"]))


def inside(folder: Path, work: Callable[[], int]) -> int:
    """Do something in a folder, with the packing cache below it."""
    import os

    os.environ["ADGCL_CACHE"] = str(folder / "packed")
    before = Path.cwd()
    os.chdir(folder)
    try:
        return work()
    finally:
        os.chdir(before)
