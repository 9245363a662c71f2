"""A table about transfer pre-trains once for each row, and fine-tunes every cell from there."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from adgcl.core.errors import ConfigError
from adgcl.core.records import read_records
from adgcl.experiments.planning import Request
from adgcl.experiments.pretraining import pretrain
from adgcl.experiments.source import Source
from adgcl.experiments.tables.listing import listing
from adgcl.experiments.tables.reproduction import Reproduction, TableRequest, open_table
from adgcl.experiments.tables.transfer import parse_runs
from adgcl.protocols.base import PROTOCOLS
from adgcl.published import layout
from adgcl.reports.comparison import compare_outcomes
from adgcl.reports.comparison_tables import notes
from adgcl.training.start import encoder_origin

NARROW = ("encoder.hidden_dim=8", "encoder.num_layers=2")


@pytest.fixture
def folder(data_dir: Path, tmp_path: Path) -> Path:
    """A data folder with the first rows of BACE and BBBP, and a corpus of molecules of ZINC-250K beside it."""
    for name, count in (("bace", 60), ("bbbp", 50)):
        with gzip.open(data_dir / f"moleculenet/{name}.csv.gz", "rt") as file:
            rows = list(csv.reader(file))
        # Both classes in all parts: the table is sorted by label in places.
        chosen = [rows[0], *rows[1 :: len(rows) // count]]
        target = tmp_path / f"data/moleculenet/{name}.csv.gz"
        target.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(target, "wt", newline="") as file:
            csv.writer(file).writerows(chosen)
    with gzip.open(data_dir / "zinc250k/zinc250k.csv.gz", "rt") as file:
        smiles = [row["smiles"].strip() for row, _ in zip(csv.DictReader(file), range(40))]
    (tmp_path / "corpus.smi").write_text("\n".join(smiles) + "\n")
    return tmp_path


def made(folder: Path, *methods: str, **changes: Any) -> Reproduction:
    wanted: dict[str, Any] = {
        "table": layout("table2"), "datasets": ("BACE", "BBBP"), "methods": methods, "seeds": 2, "jobs": 1,
        "executor": "inline", "assignments": (*NARROW, "training.epochs=2"), "work": folder / "runs",
        "out": folder / "results", "data_dir": folder / "data", "corpus": str(folder / "corpus.smi"),
        "pretraining": (*NARROW, "training.epochs=1"),
    }  # fmt: skip
    return open_table(TableRequest(**{**wanted, **changes}))


def run(table: Reproduction) -> dict[tuple[str, str], Any]:
    table.run(table.schedule())
    return {(row, column): outcome for (_, row, column), outcome in table.outcomes().items()}


def test_a_row_is_pre_trained_once_and_all_cells_start_from_it(folder):
    table = made(folder, "no_pretrain", "adgcl", "attr_masking")
    assert len(table.jobs) == 2 + 3 * 2 * 2
    outcomes = run(table)
    assert all(outcome.gap is None and outcome.record.seeds == [0, 1] for outcome in outcomes.values())
    trained = {row: str(next((folder / "runs").glob(f"corpus-{row}-*/seed-0"))) for row in ("adgcl", "attr_masking")}
    for (row, column), outcome in outcomes.items():
        origin = dict(outcome.record.config.get("started_from", {}))
        expected = encoder_origin(trained[row]) if row in trained else {}
        assert [run.get("started_from") for run in outcome.record.runs] == [expected.pop("checksum", None)] * 2
        assert len(origin.pop("made", "")) == (10 if row in trained else 0) and origin == expected
        assert outcome.record.method == row and outcome.record.published["table"] == "table2"
        assert ("1 epoch on corpus" in outcome.record.notes[0]) == (row in trained)
        assert column in ("BACE", "BBBP")
    assert len(read_records(folder / "results")) == 6
    pairs = {place: (found.record, found.gap) for place, found in table.outcomes().items()}
    compared = compare_outcomes(layout("table2"), ("as_published",), ("adgcl", "no_pretrain"), ("BACE", "BBBP"), pairs)
    assert "Pre-trained here: AD-GCL-FIX 1 epoch on corpus (40 graphs)." in notes(compared)
    assert not [path for path in (folder / "results").glob("*.json") if "pretraining" in path.name]
    again = made(folder, "no_pretrain", "adgcl", "attr_masking")
    assert all(job.result() is not None for job in again.jobs), "nothing is trained twice"


def test_published_figures_are_read_at_the_epoch_that_their_authors_report(folder):
    def rules(mode: str, **changes: Any) -> dict[str, tuple[str, str]]:
        outcomes = run(made(folder, "graphcl", "attr_masking", modes=(mode,), datasets=("BACE",), seeds=1, **changes))
        protocol = PROTOCOLS["finetune"]
        records = {row: outcome.record for (row, _), outcome in outcomes.items()}
        return {row: (one.config["protocol"]["rule"], protocol.describe(one)) for row, one in records.items()}

    best, last = ("best_validation", "fine-tuned, best validation epoch"), ("last_epoch", "fine-tuned, last epoch")
    assert rules("as_published") == {"graphcl": last, "attr_masking": best}
    assert rules("strict") == {"graphcl": best, "attr_masking": best}
    asked = (*NARROW, "training.epochs=2", "protocol.rule=best_validation")
    assert rules("as_published", assignments=asked) == {"graphcl": best, "attr_masking": best}


def test_records_say_where_a_row_is_not_what_was_published(folder):
    outcomes = run(made(folder, "infograph", "joaov2", "graphcl", datasets=("BACE",), seeds=1, table=layout("table2")))
    found = {row: outcome.record.notes[1:] for (row, _), outcome in outcomes.items()}
    assert any("Infomax of Hu et al." in note for note in found["infograph"])
    assert any("Differs from JOAOv2" in note and "25 pairs" in note for note in found["joaov2"])
    assert not any("Differs" in note for note in found["graphcl"])


def test_a_run_that_is_there_takes_the_place_of_pre_training(folder):
    request = Request("adgcl", preset="adgcl-transfer", assignments=(*NARROW, "training.epochs=3"))
    pretrain(Source(str(folder / "corpus.smi")), folder / "zinc", request)
    table = made(folder, "adgcl", encoders={"adgcl": str(folder / "zinc")}, corpus="no such corpus")
    assert len(table.jobs) == 4
    for outcome in run(table).values():
        assert outcome.record.config["started_from"]["epochs"] == 3


def test_what_cannot_be_pre_trained_is_a_gap_with_its_reason(folder):
    table = made(folder, "no_pretrain", "adgcl", corpus="ZINC-250K", seeds=1)
    outcomes = run(table)
    assert outcomes["no_pretrain", "BACE"].gap is None
    gap = outcomes["adgcl", "BACE"].gap
    assert gap.status == "no data" and "ZINC-250K" in gap.detail
    rows = made(folder, "nadgcl", seeds=1).cells
    assert {cell.gap.status for cell in rows} == {"failed"}
    assert "no preset for pre-training by nadgcl" in rows[0].gap.detail
    (cell,) = made(folder, "adgcl", encoders={"adgcl": "nowhere"}, datasets=("BACE",), seeds=1).cells
    assert "nowhere" in cell.gap.detail


def test_both_modes_share_a_pre_training_unless_the_published_one_has_a_fault(folder):
    table = made(folder, "adgcl", "graphcl", seeds=1, modes=("as_published", "strict"), datasets=("BACE",))
    pretraining = [job for job in table.jobs if job.label.startswith("pre-training")]
    assert sorted(str(job) for job in pretraining) == [
        "pre-training adgcl on corpus, as_published, seed 0",
        "pre-training graphcl on corpus, as_published, seed 0",
        "pre-training graphcl on corpus, strict, seed 0",
    ]


def test_the_list_says_what_comes_first_and_estimates_what_cannot_be_planned_yet(folder):
    table = made(folder, "no_pretrain", "adgcl", seeds=1, datasets=("BACE",))
    (plain, tuned), seconds = listing(table)
    assert plain["note"] == "" and tuned["note"] == "needs pre-training adgcl first, which is added"
    # Both fine-tune the same network on the same data, whether or not the encoder is there.
    assert tuned["estimated_seconds"] == plain["estimated_seconds"] and seconds > 0


def test_names_of_data_sets_may_be_the_papers_or_ours(folder):
    names = [column.name for column in made(folder, "no_pretrain", datasets=("moleculenet-bace", "bbbp")).columns]
    assert names == ["BACE", "BBBP"]


def test_a_folder_of_pre_training_is_a_run_folder(folder):
    run(made(folder, "edge_pred", seeds=1, datasets=("BACE",)))
    (trained,) = (folder / "runs").glob("corpus-edge_pred-*/seed-0")
    assert json.loads((trained / "config.json").read_text())["encoder"]["hidden_dim"] == 8
    assert encoder_origin(str(trained))["graphs"] == 40


@pytest.mark.parametrize("text", ["adgcl", "=runs/zinc", "adgcl="])
def test_an_encoder_that_is_not_row_equals_run_is_refused(text):
    with pytest.raises(ConfigError, match="ROW=RUN"):
        parse_runs((text,))


@pytest.mark.parametrize("row", ["nonsense", "graphcl", "no_pretrain"])
def test_an_encoder_for_a_row_that_would_not_use_it_is_refused(folder, row):
    with pytest.raises(ConfigError, match=f"called '{row}'") as refused:
        made(folder, "no_pretrain", "adgcl", encoders={row: "zinc-gin"})
    assert refused.value.hint == "Those asked for are adgcl."
