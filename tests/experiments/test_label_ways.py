"""The ways of learning from few labels that `adgcl labels` compares."""

from __future__ import annotations

from pathlib import Path

from adgcl.experiments.label_ways import _started
from adgcl.experiments.source import LoadedSource, Source
from tests.insight_cases import MOLECULES, finished_run


def test_encoders_with_the_same_file_name_stay_apart(tmp_path: Path) -> None:
    rows = [f"{text},{i % 2}" for i, text in enumerate(MOLECULES)]
    (tmp_path / "m.csv").write_text("smiles,active\n" + "\n".join(rows) + "\n")
    data = LoadedSource.of(Source(str(tmp_path / "m.csv"), label_columns=("active",)))
    encoders = tuple(str(finished_run(seed) / "checkpoint.safetensors") for seed in (0, 1))
    found, _ = _started(data, tmp_path, encoders, True, {})
    assert [way.name for way in found][:2] == list(encoders)
    alone, _ = _started(data, tmp_path, encoders[:1], True, {})
    assert alone[0].name == "checkpoint.safetensors"
