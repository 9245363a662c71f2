"""The published numbers are complete, plausible and the ones that the paper prints."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from collections import Counter
from typing import get_args

import pytest

from adgcl.core.errors import UnknownNameError
from adgcl.core.schema import Metric, TaskKind
from adgcl.published import (
    PublishedResult,
    PublishedStatistics,
    find_result,
    optimal_lambda,
    paper_method,
    results,
    statistics,
    tables,
)

ROWS_PER_TABLE = {
    "table1-tu": 8 * 9,
    "table1-ogb": 8 * 9,
    "table2": 7 * 9,
    "table3": 6 * 6,
    "table-svm": 5 * 8,
    "table-joao-linear": 2 * 8,
    "table-joao-svm": 3 * 8,
    "table-joao-semi": 3 * 6,
    "table-joao-transfer": 3 * 9,
}

# Typed from the paper, not from the CSV: the corners of every table and some cells inside.
CELLS = [
    ("table1-tu", "NCI1", "F-GIN", 78.27, 1.35),
    ("table1-tu", "IMDB-MULTI", "F-GIN", 48.46, 2.31),
    ("table1-tu", "REDDIT-MULTI-5K", "RU-GIN", 27.52, 0.61),
    ("table1-tu", "DD", "InfoGraph", 75.23, 0.39),
    ("table1-tu", "REDDIT-BINARY", "GraphCL", 82.63, 0.99),
    ("table1-tu", "MUTAG", "NAD-GCL-FIX", 88.58, 1.58),
    ("table1-tu", "NCI1", "AD-GCL-FIX", 69.67, 0.51),
    ("table1-tu", "IMDB-MULTI", "AD-GCL-OPT", 49.89, 0.66),
    ("table1-ogb", "ogbg-molesol", "F-GIN", 1.173, 0.057),
    ("table1-ogb", "ogbg-molfreesolv", "InfoGraph", 10.005, 4.819),
    ("table1-ogb", "ZINC", "RU-GIN", 0.809, 0.022),
    ("table1-ogb", "ogbg-molbace", "NAD-GCL-OPT", 73.69, 3.67),
    ("table1-ogb", "ZINC", "AD-GCL-FIX", 0.578, 0.012),
    ("table1-ogb", "ogbg-moltox21", "AD-GCL-OPT", 72.92, 0.86),
    ("table1-ogb", "ogbg-molsider", "AD-GCL-OPT", 63.19, 0.95),
    ("table2", "BBBP", "No Pre-Train", 65.8, 4.5),
    ("table2", "ToxCast", "EdgePred", 64.1, 0.6),
    ("table2", "BACE", "AttrMasking", 79.3, 1.6),
    ("table2", "PPI", "ContextPred", 64.4, 1.3),
    ("table2", "ClinTox", "InfoGraph", 69.9, 3.0),
    ("table2", "MUV", "GraphCL", 69.8, 2.66),
    ("table2", "PPI", "AD-GCL-FIX", 68.83, 1.26),
    ("table3", "NCI1", "No Pre-Train", 73.72, 0.24),
    ("table3", "COLLAB", "SS-GCN-A", 74.19, 0.13),
    ("table3", "DD", "GAE", 74.54, 0.68),
    ("table3", "REDDIT-MULTI-5K", "AD-GCL-FIX", 53.49, 0.28),
    ("table-svm", "NCI1", "RU-GIN", 65.40, 0.17),
    ("table-svm", "DD", "GraphCL", 78.62, 0.40),
    ("table-svm", "REDDIT-BINARY", "AD-GCL-OPT", 92.35, 0.42),
    ("table-svm", "IMDB-BINARY", "AD-GCL-OPT", 71.49, 0.98),
    ("table-joao-linear", "NCI1", "JOAOv2", 72.99, 0.75),
    ("table-joao-linear", "IMDB-BINARY", "AD-GCL-FIX", 71.57, 1.01),
    ("table-joao-svm", "NCI1", "JOAO", 78.07, 0.47),
    ("table-joao-svm", "IMDB-BINARY", "JOAOv2", 70.83, 0.25),
    ("table-joao-semi", "NCI1", "JOAO", 74.48, 0.27),
    ("table-joao-semi", "REDDIT-MULTI-5K", "JOAOv2", 52.71, 0.28),
    ("table-joao-transfer", "BBBP", "JOAO", 70.22, 0.98),
    ("table-joao-transfer", "PPI", "JOAOv2", 63.94, 1.59),
]

PLAUSIBLE = {"accuracy": (20.0, 100.0), "rocauc": (50.0, 100.0), "rmse": (0.5, 15.0), "mae": (0.1, 1.0)}

OUR_METHODS = {
    "adgcl": "AD-GCL-FIX",
    "adgcl-opt": "AD-GCL-OPT",
    "random_init": "RU-GIN",
    "supervised": "F-GIN",
    "infograph": "InfoGraph",
    "graphcl": "GraphCL",
    "nadgcl": "NAD-GCL-FIX",
    "nadgcl-opt": "NAD-GCL-OPT",
    "joao": "JOAO",
    "joaov2": "JOAOv2",
    "edge_pred": "EdgePred",
    "attr_masking": "AttrMasking",
    "context_pred": "ContextPred",
}

TABLE1_DATASETS = sorted({r.dataset for t in ("table1-tu", "table1-ogb") for r in results(t)})


def test_every_table_has_all_its_rows() -> None:
    assert Counter(r.table for r in results()) == ROWS_PER_TABLE
    assert set(tables()) == set(ROWS_PER_TABLE)


@pytest.mark.parametrize("table", ROWS_PER_TABLE)
def test_every_table_is_a_full_grid(table: str) -> None:
    rows = results(table)
    assert len(rows) == len({r.dataset for r in rows}) * len({r.method for r in rows})


@pytest.mark.parametrize(("table", "dataset", "method", "mean", "std"), CELLS)
def test_cell_is_as_printed(table: str, dataset: str, method: str, mean: float, std: float) -> None:
    result = find_result(dataset, method, table)
    assert isinstance(result, PublishedResult)
    assert (result.table, result.dataset, result.method) == (table, dataset, method)
    assert (result.mean, result.std) == (mean, std)


def test_keys_are_unique() -> None:
    keys = [(r.table, r.dataset, r.method) for r in results()]
    assert len(keys) == len(set(keys))


def test_results_are_finite_plausible_and_sourced() -> None:
    for r in results():
        low, high = PLAUSIBLE[r.metric]
        assert math.isfinite(r.mean) and low < r.mean < high, r
        assert r.std is not None and math.isfinite(r.std) and 0 < r.std < r.mean, r
        assert r.higher_is_better == (r.metric in ("accuracy", "rocauc")), r
        assert r.source, r


def test_metric_agrees_with_the_data_set() -> None:
    for r in results():
        size = statistics(r.dataset)
        assert size is not None and size.metric == r.metric, r


@pytest.mark.parametrize("dataset", TABLE1_DATASETS)
def test_every_unsupervised_data_set_has_statistics_and_lambda(dataset: str) -> None:
    size = statistics(dataset)
    reg_lambda = optimal_lambda(dataset)
    assert size is not None and size.classes_or_tasks is not None
    assert reg_lambda is not None and 0.1 <= reg_lambda <= 10.0


def test_there_are_eighteen_unsupervised_data_sets() -> None:
    assert len(TABLE1_DATASETS) == 18


def test_opt_equals_fix_where_the_optimal_lambda_is_the_fixed_one() -> None:
    """FIX uses lambda 5, so equal lambdas must show equal numbers: this catches swapped columns."""
    same = [d for d in TABLE1_DATASETS if optimal_lambda(d) == 5.0]
    assert set(same) == {"NCI1", "COLLAB", "REDDIT-BINARY", "ogbg-molclintox", "ogbg-molsider"}
    for dataset in TABLE1_DATASETS:
        fix, opt = find_result(dataset, "adgcl"), find_result(dataset, "adgcl-opt")
        assert fix is not None and opt is not None
        assert ((fix.mean, fix.std) == (opt.mean, opt.std)) == (dataset in same)


@pytest.mark.parametrize(
    ("table", "twin"),
    [
        ("table-joao-linear", "table1-tu"),
        ("table-joao-svm", "table-svm"),
        ("table-joao-semi", "table3"),
        ("table-joao-transfer", "table2"),
    ],
)
def test_tables_against_joao_repeat_the_main_numbers(table: str, twin: str) -> None:
    for r in results(table, method="AD-GCL-FIX"):
        main = find_result(r.dataset, r.method, twin)
        assert main is not None and (main.mean, main.std) == (r.mean, r.std)


@pytest.mark.parametrize(
    ("dataset", "reg_lambda"),
    [
        ("ogbg-molesol", 0.4),
        ("ZINC", 0.8),
        ("ogbg-molsider", 5.0),
        ("COLLAB", 5.0),
        ("PROTEINS", 1.0),
        ("DD", 10.0),
    ],
)
def test_optimal_lambda_is_as_printed(dataset: str, reg_lambda: float) -> None:
    assert optimal_lambda(dataset) == reg_lambda


@pytest.mark.parametrize(
    ("dataset", "graphs", "avg_nodes", "avg_edges", "counted", "classes_or_tasks"),
    [
        ("ogbg-molesol", 1128, 13.3, 13.7, "undirected", 1),
        ("ogbg-molsider", 1427, 33.6, 35.4, "undirected", 27),
        ("ZINC", 12000, 23.16, 49.83, "directed", 1),
        ("NCI1", 4110, 29.87, 32.30, "undirected", 2),
        ("IMDB-MULTI", 1500, 13.0, 65.94, "undirected", 3),
        ("PPI-306K", 306925, 39.82, 729.62, "directed", None),
        ("ZINC-2M", 2000000, 26.62, 57.72, "directed", None),
        ("ToxCast", 8576, 18.78, 38.52, "directed", None),
    ],
)
def test_statistics_are_as_printed(
    dataset: str, graphs: int, avg_nodes: float, avg_edges: float, counted: str, classes_or_tasks: int | None
) -> None:
    size = statistics(dataset)
    assert isinstance(size, PublishedStatistics)
    assert (size.graphs, size.avg_nodes, size.avg_edges) == (graphs, avg_nodes, avg_edges)
    assert (size.edges_counted, size.classes_or_tasks) == (counted, classes_or_tasks)


@pytest.mark.parametrize("name", ["BBBP", "Tox21", "SIDER", "ClinTox", "BACE"])
def test_transfer_sets_count_each_edge_of_their_ogb_twin_twice(name: str) -> None:
    """The paper heads this column 'Avg. Degree', but the numbers are edges counted in both directions."""
    size, twin = statistics(name), statistics(f"ogbg-mol{name.lower()}")
    assert isinstance(size, PublishedStatistics) and isinstance(twin, PublishedStatistics)
    assert size.graphs == twin.graphs
    assert size.avg_edges == pytest.approx(2 * twin.avg_edges, abs=0.2)


def test_words_are_those_of_the_schema() -> None:
    for dataset in {r.dataset for r in results()} | {"ZINC-2M", "PPI-306K"}:
        size = statistics(dataset)
        assert isinstance(size, PublishedStatistics)
        assert size.task in get_args(TaskKind) and size.metric in get_args(Metric)
        assert size.edges_counted in ("undirected", "directed")


@pytest.mark.parametrize(("name", "label"), OUR_METHODS.items())
def test_our_names_lead_to_printed_labels(name: str, label: str) -> None:
    assert paper_method(name) == label
    assert results(method=name) == results(method=label) != []


def test_without_a_table_the_main_linear_result_is_found() -> None:
    adgcl, joao = find_result("NCI1", "adgcl"), find_result("NCI1", "joaov2")
    assert adgcl is not None and adgcl.table == "table1-tu"
    assert joao is not None and joao.table == "table-joao-linear"


def test_what_the_paper_does_not_have_is_none() -> None:
    assert find_result("my-molecules", "adgcl") is None
    assert find_result("NCI1", "my-method") is None
    assert results(dataset="my-molecules") == []
    assert optimal_lambda("BBBP") is None
    assert statistics("my-molecules") is None
    assert paper_method("my-method") is None


def test_a_mistyped_table_is_an_error_with_a_hint() -> None:
    with pytest.raises(UnknownNameError, match="table1-tu"):
        results("table1-tv")


def test_callers_cannot_change_the_shared_numbers() -> None:
    results().clear()
    assert len(results()) == sum(ROWS_PER_TABLE.values())
    with pytest.raises(dataclasses.FrozenInstanceError):
        results()[0].mean = 0.0  # type: ignore[misc]


def test_import_needs_no_torch() -> None:
    code = "import sys, adgcl.published as p; p.results(); sys.exit(bool({'torch', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
