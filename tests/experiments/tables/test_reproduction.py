"""A table becomes jobs, jobs become Records, and what goes wrong becomes the reason of a cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adgcl.core.errors import TrainingError, UnknownNameError
from adgcl.core.locks import locked
from adgcl.core.records import read_records
from adgcl.experiments.evaluation import Work, evaluate
from adgcl.experiments.jobs import run_job
from adgcl.experiments.planning import Request
from adgcl.experiments.schedule import gap_of
from adgcl.experiments.source import Source
from adgcl.experiments.tables.listing import listing
from adgcl.experiments.tables.reproduction import Reproduction
from adgcl.methods.adgcl import ADGCL
from tests.cli.conftest import write_tu
from tests.experiments.conftest import SMALL


def run(table: Reproduction) -> dict[str, object]:
    """Run a table and return its outcomes by row; it has one column and one mode."""
    table.run(table.schedule())
    return {row: outcome for (_, row, _), outcome in table.outcomes().items()}


def test_every_seed_and_mode_is_a_job_and_a_cell_has_a_record(table, tmp_path):
    made = table("random_init", "adgcl", seeds=2, modes=("as_published", "strict"))
    assert len(made.jobs) == 2 * 2 * 2
    run(made)
    records = read_records(tmp_path / "results")
    assert {(r.method, r.mode) for r in records} == {
        (m, s) for m in ("random_init", "adgcl") for s in ("as_published", "strict")
    }
    assert all(r.seeds == [0, 1] and len(r.values) == 2 for r in records)


def test_finished_jobs_are_never_run_again(table, tmp_path):
    run(table("random_init", "adgcl", seeds=2))
    times = {p: p.stat().st_mtime_ns for p in (tmp_path / "runs").rglob("result.json")}
    events = []
    again = table("random_init", "adgcl", seeds=3)
    again.run(again.schedule(lambda event: events.append((event.kind, event.job.seed))))
    assert (
        sorted(e for e in events if e[0] in ("reused", "started"))
        == [("reused", 0)] * 2 + [("reused", 1)] * 2 + [("started", 2)] * 2
    )
    assert {p: p.stat().st_mtime_ns for p in times} == times
    again.outcomes()
    assert sorted(len(r.seeds) for r in read_records(tmp_path / "results")) == [3, 3], "the poorer Records are gone"


def test_a_worker_reads_what_another_has_finished_and_trains_nothing(table, monkeypatch):
    made = table("adgcl")
    (job,) = made.jobs
    given = job.data.source, job.plan, job.folder
    assert run_job(*given, lambda message: None) is True
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in job.folder.iterdir()}
    monkeypatch.setattr(ADGCL, "step", lambda self, batch, generator: 1 / 0)
    assert run_job(*given, lambda message: None) is False
    assert {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in job.folder.iterdir()} == before


def test_fewer_seeds_do_not_take_the_place_of_more(table, tmp_path):
    run(table("random_init", seeds=3))
    before = {p: p.read_bytes() for p in (tmp_path / "results").glob("*.json")}
    outcomes = run(table("random_init", seeds=1))
    assert outcomes["random_init"].record.seeds == [0]
    assert {p: p.read_bytes() for p in (tmp_path / "results").glob("*.json")} == before


def test_evaluate_and_reproduce_share_their_work(table, toys, tmp_path):
    flags = {"protocol": {"mode": "as_published", "probes": ["linear"]}}
    request = Request("adgcl", flags=flags, assignments=SMALL)
    judged = evaluate(Source(str(toys)), request, range(2), Work(tmp_path / "runs", jobs=1))
    made = table("adgcl", seeds=2)
    assert all(job.result() is not None for job in made.jobs)
    assert run(made)["adgcl"].record.values == judged.records[0].values


def test_both_probes_serve_a_table_of_either(table, tmp_path):
    outcome = run(table("adgcl", probes=("linear", "svm")))["adgcl"]
    assert {r.probe for r in read_records(tmp_path / "results")} == {"linear", "svm"}
    alone = table("adgcl")
    assert [job.result() is not None for job in alone.jobs] == [True]
    assert run(alone)["adgcl"].record.values == outcome.record.values
    assert len(read_records(tmp_path / "results")) == 2


def test_a_failure_is_the_reason_of_its_cell(table, tmp_path, monkeypatch):
    def broken(self, batch, generator):
        raise TrainingError("loss became nan in epoch 1, step 1.")

    monkeypatch.setattr(ADGCL, "step", broken)
    outcomes = run(table("random_init", "adgcl"))
    assert (
        outcomes["adgcl"].record is None and str(outcomes["adgcl"].gap) == "failed: loss became nan in epoch 1, step 1."
    )
    assert outcomes["random_init"].record is not None


def test_an_error_of_any_kind_ends_one_cell_only(table, monkeypatch):
    monkeypatch.setattr(ADGCL, "step", lambda self, batch, generator: 1 / 0)
    outcomes = run(table("adgcl", "random_init"))
    assert "ZeroDivisionError" in outcomes["adgcl"].gap.detail and outcomes["random_init"].gap is None


def test_fingerprints_do_not_apply_to_graphs_without_smiles(table):
    gap = run(table("ecfp"))["ecfp"].gap
    assert gap.status == "not applicable" and "no SMILES" in gap.detail


def test_an_extra_row_that_applies_to_nothing_is_left_out_unless_asked_for(table):
    made = table("ecfp")
    assert made.shown_rows(made.outcomes()) == ("ecfp",)
    everything = table()
    rows = everything.shown_rows(everything.outcomes())
    assert "ecfp" not in rows and {"adgcl", "statistics", "supervised"} <= set(rows)


def test_data_that_are_not_here_say_how_to_get_them(table, tmp_path):
    made = table("adgcl", datasets=("MUTAG",), data_dir=tmp_path / "nowhere")
    gap = run(made)["adgcl"].gap
    assert gap.status == "no data" and "adgcl data prepare MUTAG" in gap.detail


def test_data_without_labels_or_with_one_class_are_not_judged(table, tmp_path):
    bare = write_tu(tmp_path / "BARE", "BARE")
    (bare / "BARE_graph_labels.txt").unlink()
    alike = write_tu(tmp_path / "ALIKE", "ALIKE")
    (alike / "ALIKE_graph_labels.txt").write_text("1\n" * 24)
    made = table("random_init", datasets=(str(bare), str(alike)))
    gaps = {dataset: outcome.gap.status for (_, _, dataset), outcome in made.outcomes().items()}
    assert gaps == {"BARE": "no labels", "ALIKE": "not applicable"} and made.jobs == []


def test_no_time_means_out_of_time(table):
    assert run(table("adgcl", limit=0.0))["adgcl"].gap.status == "out of time"


def test_work_of_another_process_is_left_to_it(table, monkeypatch):
    made = table("random_init", limit=0.6)
    with locked(made.jobs[0].folder):
        assert run(made)["random_init"].gap.status == "running elsewhere"


def test_a_wrong_setting_is_said_in_the_cell_and_an_unknown_name_at_once(table):
    gap = run(table("random_init", assignments=(*SMALL, "reg_lambda=1")))["random_init"].gap
    assert gap.status == "failed" and "reg_lambda" in gap.detail
    with pytest.raises(UnknownNameError, match="adgkl"):
        table("adgkl")


def test_nadgcl_takes_the_drop_ratio_that_adgcl_ended_with(table, tmp_path):
    made = table("nadgcl", seeds=2)
    assert [job.request.method for job in made.jobs] == ["adgcl", "nadgcl"] * 2, "what it needs is added"
    assert "needs adgcl first, which is added" in listing(made)[0][0]["note"]
    record = run(made)["nadgcl"].record
    for run_, job in zip(record.runs, [j for j in made.jobs if j.request.method == "adgcl"]):
        expected = round(json.loads((job.folder / "result.json").read_text())["training"]["drop_ratio"], 4)
        assert run_["settings"] == {"method.drop_ratio": expected}
    assert "drop_ratio" not in record.config["method"] and record.config["take"]


def test_what_needs_a_failed_job_says_so(table, monkeypatch):
    monkeypatch.setattr(ADGCL, "step", lambda self, batch, generator: 1 / 0)
    gap = run(table("nadgcl"))["nadgcl"].gap
    assert gap.status == "failed" and "It needs adgcl on TOYS" in gap.detail


def test_what_cannot_be_taken_is_said(table):
    gap = run(table("nadgcl", assignments=(*SMALL, "training.epochs=0")))["nadgcl"].gap
    assert gap.status == "failed" and "no drop_ratio to take" in gap.detail


def test_a_damaged_result_does_not_count_and_the_seed_runs_again(table):
    made = table("random_init")
    made.jobs[0].folder.mkdir(parents=True)
    (made.jobs[0].folder / "result.json").write_text("{")
    found = run(made)["random_init"]
    assert found.gap is None and found.record is not None


def test_the_list_counts_what_is_left(table):
    rows, seconds = listing(table("random_init", "adgcl", seeds=2))
    assert [(r["row"], r["finished"], r["jobs"]) for r in rows] == [
        ("random_init", 0, 2),
        ("adgcl", 0, 2),
    ] and seconds > 0
    run(table("adgcl", seeds=1))
    rows, _ = listing(table("random_init", "adgcl", seeds=2))
    assert rows[1]["finished"] == 1


def test_an_error_before_training_is_about_the_data_and_later_about_the_method():
    from adgcl.core.errors import DataError

    assert gap_of(DataError("x"), trained=False).status == "not applicable"
    assert gap_of(DataError("x"), trained=True).status == "failed"


def test_supervised_counts_in_tables_of_either_probe(table, tmp_path: Path):
    from adgcl.published import layout

    linear = run(table("supervised"))["supervised"].record
    svm = table("supervised", table=layout("table-svm"), probes=("svm",))
    assert all(job.result() is not None for job in svm.jobs)
    assert run(svm)["supervised"].record.values == linear.values and linear.probe == "head"
