"""The ways of learning from few labels that `adgcl labels` compares."""

from __future__ import annotations

from pathlib import Path

from adgcl.experiments.label_ways import _started, ways
from adgcl.experiments.source import LoadedSource, Source
from tests.insight_cases import MOLECULES, finished_run


def test_the_shape_of_an_encoder_is_set_where_one_is_made(tmp_path: Path) -> None:
    data = LoadedSource.of(Source(str(table(tmp_path)), label_columns=("active",)))
    found, _ = ways(data, "adgcl", tmp_path, (), (), 1)
    flags = {"protocol": {"name": "semi_supervised", "label_rate": 1.0}}
    for assignments in (("encoder.hidden_dim=8", "dropout=0.25"), ("hidden_dim=8", "encoder.dropout=0.25")):
        jobs = {way.name: way.job(flags, assignments, 0) for way in found}
        scratch, started = jobs["no pre-training"].plan.run, jobs["zinc-gin"].plan.run
        assert (scratch.encoder.hidden_dim, started.encoder.hidden_dim) == (8, 300)
        assert scratch.encoder.dropout == started.encoder.dropout == 0.25
        both = jobs["AD-GCL pre-training"]
        assert both.needs and both.needs.plan.run.encoder.hidden_dim == both.outline.run.encoder.hidden_dim == 8
        assert both.needs.plan.run.encoder.dropout == 0.0
    (wider,) = [way for way in ways(data, "adgcl", tmp_path, (), ("hidden_dim=16",), 1)[0] if way.pretraining]
    job = wider.job(flags, (), 0)
    assert job.needs and job.needs.plan.run.encoder.hidden_dim == job.outline.run.encoder.hidden_dim == 16


def table(folder: Path) -> Path:
    rows = [f"{text},{i % 2}" for i, text in enumerate(MOLECULES)]
    (folder / "m.csv").write_text("smiles,active\n" + "\n".join(rows) + "\n")
    return folder / "m.csv"


def test_encoders_with_the_same_file_name_stay_apart(tmp_path: Path) -> None:
    data = LoadedSource.of(Source(str(table(tmp_path)), label_columns=("active",)))
    encoders = tuple(str(finished_run(seed) / "checkpoint.safetensors") for seed in (0, 1))
    found, _ = _started(data, tmp_path, encoders, True, {})
    assert [way.name for way in found][:2] == list(encoders)
    alone, _ = _started(data, tmp_path, encoders[:1], True, {})
    assert alone[0].name == "checkpoint.safetensors"
