"""Work is reused only where everything that decides its result is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from adgcl.core.errors import OutputError
from adgcl.core.records import read_records
from adgcl.experiments.evaluation import Work, evaluate
from adgcl.experiments.finetuning import Choices, finetune
from adgcl.experiments.planning import Request
from adgcl.experiments.source import Source
from adgcl.protocols.record_folder import keep
from tests.insight_cases import MOLECULES
from tests.reports.test_documents import record

NARROW = ("encoder.hidden_dim=8", "encoder.num_layers=2", "training.epochs=1")


def table(path: Path, parts: str) -> Source:
    rows = [f"{text},{i % 2},{part}" for i, (text, part) in enumerate(zip(MOLECULES, parts, strict=True))]
    names = {"t": "train", "v": "valid", "e": "test"}
    lines = [f"{row.rpartition(',')[0]},{names[row[-1]]}" for row in rows]
    path.write_text("smiles,active,part\n" + "\n".join(lines) + "\n")
    return Source(str(path), label_columns=("active",))


PARTS = "t" * 10 + "v" * 4 + "e" * 4


def test_the_same_numbers_as_another_task_are_other_work(tmp_path):
    source, work = table(tmp_path / "m.csv", PARTS), Work(folder=tmp_path / "work")
    request = Request("random_init", assignments=NARROW[:2])
    first = evaluate(source, request, (0,), work)
    again = evaluate(source, request, (0,), work)
    other = evaluate(replace(source, task="regression"), request, (0,), work)
    assert (first.reused, again.reused, other.reused) == (0, 1, 0)
    assert {r.metric for r in first.records} == {"rocauc"} and {r.metric for r in other.records} == {"rmse"}


def test_an_edited_split_column_is_other_work(tmp_path):
    work, request = Work(folder=tmp_path / "work"), Request("random_init", assignments=NARROW[:2])
    for parts, reused in ((PARTS, 0), (PARTS, 1), (PARTS[::-1], 0)):
        source = replace(table(tmp_path / "m.csv", parts), split="part")
        assert evaluate(source, request, (0,), work).reused == reused


def test_fresh_work_takes_nothing_over(tmp_path):
    source, folder = table(tmp_path / "m.csv", PARTS), tmp_path / "work"
    both = Request("random_init", flags={"protocol": {"probes": ["linear", "svm"]}}, assignments=NARROW[:2])
    one = Request("random_init", flags={"protocol": {"probes": ["linear"]}}, assignments=NARROW[:2])
    assert evaluate(source, both, (0,), Work(folder=folder)).reused == 0
    assert evaluate(source, one, (0,), Work(folder=folder)).reused == 1
    assert evaluate(source, one, (0,), Work(folder=folder, fresh=True)).reused == 0


@pytest.mark.parametrize("change", ["task", "parts", "seed"])
def test_a_model_of_another_task_split_or_seed_is_not_the_one_asked_for(tmp_path, change):
    source = table(tmp_path / "m.csv", PARTS)
    folds = Choices(folds=3) if change == "seed" else Choices(seeds=1)
    source = source if change == "seed" else replace(source, split="part")
    ask = {"training": {"seed": 0}}
    finetune("none", source, tmp_path / "model", Request(flags=ask, assignments=NARROW), folds)
    assert finetune("none", source, tmp_path / "model", Request(flags=ask, assignments=NARROW), folds).finished_before
    if change == "task":
        source = replace(source, task="regression")
    elif change == "parts":
        source = replace(table(tmp_path / "m.csv", PARTS[::-1]), split="part")
    else:
        ask = {"training": {"seed": 1}}
    with pytest.raises(OutputError, match="asked for differently"):
        finetune("none", source, tmp_path / "model", Request(flags=ask, assignments=NARROW), folds)


def test_records_of_data_with_one_name_stay_apart(tmp_path):
    one, other = (replace(record(), data={**record().data, "fingerprint": mark}) for mark in ("a", "b"))
    assert one.file_name == other.file_name
    assert len({keep(one, tmp_path), keep(other, tmp_path), keep(one, tmp_path)}) == 2
    assert sorted(r.data["fingerprint"] for r in read_records(tmp_path)) == ["a", "b"]


def test_a_record_says_so_where_no_label_chose_the_epoch(tmp_path):
    source = Source("freesolv", split="random")
    flags = {"protocol": {"mode": "strict", "label_rate": 0.05, "validation": "labels", "name": "semi_supervised"}}
    request = Request("supervised", flags=flags, assignments=NARROW)
    (made,) = evaluate(source, request, (0,)).records
    assert made.runs[0]["valid"] is None and keep(made, tmp_path).exists()
