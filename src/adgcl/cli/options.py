"""Options that several commands share, with one wording and one meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_DATA = "Data"
_SETTINGS = "Settings"
_JUDGING = "Evaluation"
_OUTPUT = "Output"

DataArgument = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A name from `adgcl data list`, a file of molecules, or a folder of TU-format files."
    ),
]
RunArgument = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", help="A run folder made by `adgcl pretrain --out`, a checkpoint file, or a packaged encoder."
    ),
]
EncoderArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A run, a checkpoint, a model, or the name of a packaged encoder.")
]

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        help="The folder with data files. Default: $ADGCL_DATA, else ~/.cache/adgcl/data.",
        rich_help_panel=_DATA,
    ),
]
SmilesColumn = Annotated[
    str | None,
    typer.Option(
        "--smiles-column", help="The CSV column that holds SMILES. Default: found by its name.", rich_help_panel=_DATA
    ),
]
LabelColumns = Annotated[
    list[str] | None,
    typer.Option("--label-column", help="A CSV column that holds labels; may be repeated.", rich_help_panel=_DATA),
]
IdColumn = Annotated[
    str | None, typer.Option("--id-column", help="The CSV column that names each row.", rich_help_panel=_DATA)
]
TaskKind = Annotated[
    str | None,
    typer.Option(
        "--task",
        help="The kind of labels: regression, binary or multiclass. Default: detected.",
        rich_help_panel=_DATA,
    ),
]

Sheet = Annotated[
    str | None, typer.Option("--sheet", help="The sheet of an Excel file. Default: the first.", rich_help_panel=_DATA)
]
KeepLargestFragment = Annotated[
    bool,
    typer.Option(
        "--keep-largest-fragment",
        help="Read only the largest fragment of salts and mixtures. Default: all fragments.",
        rich_help_panel=_DATA,
    ),
]

Method = Annotated[
    str | None,
    typer.Option("--method", "-m", help="The method; `adgcl methods` lists them.", rich_help_panel=_SETTINGS),
]
Preset = Annotated[
    str | None,
    typer.Option(
        "--preset",
        help="Use the settings of this preset, for any data; `adgcl methods` lists them.",
        rich_help_panel=_SETTINGS,
    ),
]
Epochs = Annotated[int | None, typer.Option("--epochs", help="Passes over the data.", rich_help_panel=_SETTINGS)]
BatchSize = Annotated[int | None, typer.Option("--batch-size", help="Graphs per step.", rich_help_panel=_SETTINGS)]
Device = Annotated[
    str | None, typer.Option("--device", help="auto, cpu, cuda, cuda:1 or mps.", rich_help_panel=_SETTINGS)
]
Precision = Annotated[
    str | None,
    typer.Option(
        "--precision",
        help="float32, or bfloat16 where the machine supports it (else float32).",
        rich_help_panel=_SETTINGS,
    ),
]
StartFrom = Annotated[
    str | None,
    typer.Option(
        "--start-from",
        metavar="RUN",
        help="Start from the trained encoder of this run, checkpoint or packaged encoder.",
        rich_help_panel=_SETTINGS,
    ),
]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", "-c", help="A TOML file with settings.", rich_help_panel=_SETTINGS)
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="KEY=VALUE",
        help="One setting; may be repeated. `adgcl settings` lists them.",
        rich_help_panel=_SETTINGS,
    ),
]

Trackers = Annotated[
    list[str] | None,
    typer.Option(
        "--tracker",
        metavar="NAME",
        help="Also keep curves with tensorboard, wandb, trackio or mlflow; may be repeated.",
        rich_help_panel=_OUTPUT,
    ),
]

RunAndData = Annotated[
    list[str],
    typer.Argument(metavar="[RUN] DATA", help="A run folder and data, or only data, to train with several seeds."),
]
Seeds = Annotated[
    int | None, typer.Option("--seeds", min=1, help="How many seeds. Default: 10.", rich_help_panel=_JUDGING)
]
Mode = Annotated[
    str | None,
    typer.Option("--mode", help="strict (leaks nothing, the default) or as_published.", rich_help_panel=_JUDGING),
]
Probe = Annotated[str, typer.Option("--probe", help="linear, svm or both.", rich_help_panel=_JUDGING)]
Protocol = Annotated[
    str | None,
    typer.Option("--protocol", help="How to evaluate. Default: the method's own protocol.", rich_help_panel=_JUDGING),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        help="Seeds to run at a time. Default: one per core, or 1 for wide networks.",
        rich_help_panel=_JUDGING,
    ),
]
Work = Annotated[
    Path, typer.Option("--work", help="The folder for finished and unfinished seeds.", rich_help_panel=_JUDGING)
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Do not reuse finished seeds.", rich_help_panel=_JUDGING)]
Split = Annotated[
    str | None,
    typer.Option(
        "--split",
        help="scaffold, random, stratified, cv (cross-validation), or a column that says train, valid or test. "
        "Default: the data's own split; otherwise cv, and for finetune scaffold (random without SMILES).",
        rich_help_panel=_DATA,
    ),
]

Processes = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, help="Processes at a time. Default: one per core.")
]
_WHERE = "Where it runs"
Executor = Annotated[
    str,
    typer.Option(
        "--executor",
        metavar="NAME",
        help="processes of this machine, ray or slurm (docs/cluster.md); inline: this process.",
        rich_help_panel=_WHERE,
    ),
]
ExecutorSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--executor-set",
        metavar="KEY=VALUE",
        help="One setting of the executor, such as time=60; `adgcl settings --executor slurm` lists them.",
        rich_help_panel=_WHERE,
    ),
]
MaxHours = Annotated[
    float | None, typer.Option("--max-hours", min=0.0, help="Stop after this time; the same command resumes.")
]
OnlyList = Annotated[bool, typer.Option("--list", help="Show what would run without running it.")]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.", rich_help_panel=_OUTPUT)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Hide progress and advice.", rich_help_panel=_OUTPUT)]
