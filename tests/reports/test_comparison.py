"""Tables beside the paper's: every number, mark and reason, in every format."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from adgcl.core.gaps import Gap
from adgcl.core.records import Record
from adgcl.published import find_result, layout
from adgcl.reports import comparison_files
from adgcl.reports.averages import TAIL, at_best, at_last, over_tail
from adgcl.reports.comparison import Comparison, compare_outcomes, compare_records
from adgcl.reports.comparison_files import to_latex, to_markdown, to_text
from adgcl.reports.comparison_tables import cell_values, main_table, to_tree
from adgcl.reports.findings import findings, overview
from adgcl.reports.numbers import printed_label
from adgcl.reports.ranking import rank
from tests.record_cases import a_record

MODE = "as_published"


def record(method: str, dataset: str, mean: float, **changes: Any) -> Record:
    spread = [mean - 1, mean, mean + 1]
    return a_record(
        **{
            "method": method,
            "dataset": dataset,
            "mode": MODE,
            "mean": mean,
            "std": 1.0,
            "values": spread,
            "seeds": [0, 1, 2],
            **changes,
        }
    )


def compared(*records: Record, gaps: dict[tuple[str, str], Gap] | None = None, table: str = "table1-tu") -> Comparison:
    outcomes: dict[Any, Any] = {(r.mode, r.method, r.dataset): (r, None) for r in records}
    outcomes.update({(MODE, *place): (None, gap) for place, gap in (gaps or {}).items()})
    rows = list(dict.fromkeys(row for _, row, _ in outcomes))
    datasets = list(dict.fromkeys(dataset for _, _, dataset in outcomes))
    modes = list(dict.fromkeys(mode for mode, _, _ in outcomes))
    return compare_outcomes(layout(table), modes, rows, datasets, outcomes)


WEIRD = Gap("failed", "loss became nan & <b>50 %</b> of a_b {x} | y")
SMALL = compared(
    record("adgcl", "MUTAG", 90.0), record("adgcl", "PROTEINS", 70.0), record("random_init", "MUTAG", 88.0),
    gaps={
        ("random_init", "PROTEINS"): WEIRD, ("statistics", "MUTAG"): Gap("out of time"),
        ("statistics", "PROTEINS"): Gap("not run"),
    },
)  # fmt: skip


def test_the_paper_stands_beside_ours_in_its_own_deviations():
    paper = find_result("MUTAG", "adgcl", "table1-tu")
    cell = SMALL.cell(MODE, "adgcl", "MUTAG")
    assert paper is not None and cell.published == paper
    assert cell.gain_in_stds == pytest.approx((90.0 - paper.mean) / paper.std)


def test_less_is_better_for_errors():
    error = {"metric": "rmse", "higher_is_better": False, "std": 0.1}
    table = compared(
        record("adgcl", "ogbg-molesol", 1.0, **error),
        record("random_init", "ogbg-molesol", 9.0, **error),
        table="table1-ogb",
    )
    assert table.best(MODE, "ogbg-molesol") == {"adgcl"}
    assert table.cell(MODE, "adgcl", "ogbg-molesol").gain > 0 > table.cell(MODE, "random_init", "ogbg-molesol").gain
    assert rank(table, MODE).average == {"adgcl": 1.0, "random_init": 2.0}


def test_ranks_are_over_data_sets_that_all_have():
    table = compared(
        record("adgcl", "MUTAG", 90.0), record("random_init", "MUTAG", 88.0), record("graphcl", "MUTAG", 88.0),
        record("adgcl", "DD", 1.0), record("random_init", "DD", 2.0), record("infograph", "NCI1", 99.0),
    )  # fmt: skip
    ranking = rank(table, MODE)
    assert ranking.datasets == ("MUTAG",) and "infograph" not in ranking.rows
    assert ranking.average == {"adgcl": 1.0, "random_init": 2.5, "graphcl": 2.5}


def test_cells_say_number_or_reason():
    cells = {row.cells[0].text: row.cells for row in main_table(SMALL).rows if row.cells[0].text}
    ours = cells["AD-GCL-FIX"][2]
    assert ours.plain == "90.00 ± 1.00 (3) +0.5σ" and ours.best and ours.verdict == "equal"
    assert ours.tip == "seeds 0, 1, 2: 89.00, 90.00, 91.00"
    assert cells["RU-GIN"][3].text == "failed" and cells["RU-GIN"][3].tip == WEIRD.detail
    assert cells["graph statistics"][2].text == "out of time"


def test_text_has_numbers_paper_and_reasons():
    text = to_text(SMALL)
    assert "90.00 ± 1.00 (3) +0.5σ ◂" in text and "89.25 ± 1.45" in text
    assert "Failed: RU-GIN on PROTEINS. loss became nan" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 160


def test_wide_tables_are_cut_into_pieces_that_fit():
    many = compared(*(record("adgcl", dataset, 50.0) for dataset in layout("table1-tu").datasets))
    text = to_text(many)
    assert max(map(len, text.splitlines())) <= 160 and all(d in text for d in layout("table1-tu").datasets)


def test_markdown_has_a_table_that_is_a_table():
    lines = [line for line in to_markdown(SMALL).splitlines() if line.startswith("|")]
    first = lines[: next(i for i, line in enumerate(lines) if "against" in line)]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in first}) == 1
    assert first[2].startswith("| AD-GCL-FIX ") and "**90.00 ± 1.00 (3) +0.5σ**" in first[2]


def test_latex_is_balanced_and_escaped():
    text = to_latex(SMALL)
    plain = text.replace(r"\{", "").replace(r"\}", "")
    depth = 0
    for character in plain:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0 and plain.count("$") % 2 == 0
    assert not re.search(r"(?<!\\)[_%#]", re.sub(r"%$", "", text, flags=re.MULTILINE)) and "σ" not in text
    for begin in re.findall(r"\\begin\{(\w+)\}", text):
        assert text.count(rf"\begin{{{begin}}}") == text.count(rf"\end{{{begin}}}")
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body.splitlines() if line.endswith(r"\\")} == {4}


def test_csv_has_every_cell():
    rows = list(csv.DictReader(io.StringIO(comparison_files.to_csv(SMALL))))
    assert len(rows) == 3 * 2
    found = {(r["method"], r["dataset"]): r for r in rows}
    assert float(found["adgcl", "MUTAG"]["mean"]) == 90.0 and found["adgcl", "MUTAG"]["status"] == "complete"
    assert found["random_init", "PROTEINS"]["reason"] == WEIRD.detail and found["random_init", "PROTEINS"]["mean"] == ""


class Page(HTMLParser):
    """Checks that what is opened is closed."""

    VOID = frozenset({"meta", "br", "img", "link"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        assert tag not in ("script", "b") and not any(name in ("src", "href") for name, _ in attributes)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_whole_safe_and_needs_nothing_else():
    page = Page(comparison_files.to_html(SMALL))
    assert page.open == [] and WEIRD.detail in page.text and "90.00 ± 1.00" in page.text and "out of time" in page.text


def test_both_modes_stand_side_by_side(tmp_path):
    both = compared(record("adgcl", "MUTAG", 90.0), record("adgcl", "MUTAG", 92.0, mode="strict"))
    assert [row.cells[1].text for row in main_table(both).rows] == ["as_published", "strict", "paper"]
    paths = comparison_files.write_comparison(both, tmp_path)
    assert {path.name for path in paths} == {f"table1-tu-both.{ending}" for ending in comparison_files.FORMATS}
    Page(paths[-1].read_text(encoding="utf-8"))


def test_json_has_cells_ranks_and_duels():
    tree = to_tree(SMALL)
    assert [c["status"] for c in tree["cells"] if c["method"] == "random_init"] == ["complete", "failed"]
    assert tree["duels"][0]["rival"] == "random_init" and tree["ranks"][MODE]["average"]["adgcl"] == 1.0


def test_records_alone_make_a_table_of_their_probe_and_mode():
    records = [
        record("adgcl", "MUTAG", 90.0), record("adgcl", "MUTAG", 80.0, probe="svm"),
        record("supervised", "MUTAG", 91.0, protocol="supervised", probe="head"),
        record("statistics", "MUTAG", 85.0), record("joao", "MUTAG", 85.0), record("adgcl", "planted", 85.0),
    ]  # fmt: skip
    table = compare_records(layout("table1-tu"), MODE, records)
    assert table is not None and table.rows == ("supervised", "adgcl", "statistics") and table.datasets == ("MUTAG",)
    assert compare_records(layout("table1-tu"), "strict", records) is None
    svm = compare_records(layout("table-svm"), MODE, records)
    assert svm is not None and svm.rows == ("adgcl", "supervised")


def test_a_row_that_only_tables_of_another_kind_have_counts_as_our_own():
    few = {"protocol": "semi_supervised", "probe": "head"}
    records = [record(row, "PROTEINS", 70.0, **few) for row in ("adgcl", "adgcl-opt", "joao")]
    table = compare_records(layout("table3"), MODE, records)
    assert table is not None and table.rows == ("adgcl", "adgcl-opt")  # JOAO has a table of its own about few labels.


def test_records_of_transfer_stand_under_the_names_of_papers_and_are_averaged():
    tuned = {"protocol": "finetune", "probe": "head", "metric": "rocauc"}
    records = [
        record("no_pretrain", "moleculenet-bbbp", 64.0, **tuned), record("adgcl", "moleculenet-bbbp", 68.0, **tuned),
        record("no_pretrain", "moleculenet-bace", 70.0, **tuned), record("adgcl", "moleculenet-bace", 77.0, **tuned),
        record("adgcl", "moleculenet-sider", 60.0, **tuned), record("adgcl", "moleculenet-lipo", 0.7, **tuned),
    ]  # fmt: skip
    table = compare_records(layout("table2"), MODE, records)
    assert table is not None and table.rows == ("no_pretrain", "adgcl") and table.datasets == ("BBBP", "SIDER", "BACE")
    assert table.cell(MODE, "no_pretrain", "BBBP").published == find_result("BBBP", "no_pretrain", "table2")
    assert table.record(MODE, "no_pretrain", "SIDER") is None
    noted = main_table(table).notes
    paper = {
        row: sum(find_result(name, row, "table2").mean for name in ("BBBP", "BACE")) / 2
        for row in ("no_pretrain", "adgcl")
    }
    averages = f"No Pre-Train 67.00 (paper {paper['no_pretrain']:.2f}); AD-GCL-FIX 72.50 (paper {paper['adgcl']:.2f})"
    assert f"Average over BBBP, BACE ({MODE}): {averages}." in noted
    assert not any("Average over" in note for note in main_table(SMALL).notes), "only papers about transfer average"
    assert not any("The same runs" in note for note in noted), "these Records keep no scores of single epochs"


def test_the_same_runs_are_also_averaged_by_one_rule_for_all_rows():
    """Each row has two seeds; by validation data one is best at epoch 2, the other at epochs 1 and 3 alike."""
    tuned = {"protocol": "finetune", "probe": "head", "metric": "rocauc"}

    def with_courses(row, dataset, shift):
        seeds = [([60.0, 70.0, None], [61.0, 50.0, 52.0]), ([65.0, 62.0, 65.0], [40.0, 45.0, 58.0])]
        runs = [
            {"seed": seed, "folds": [0.0], "course": {"epochs": [1, 2, 3], "valid": valid,
                                                      "test": [value + shift for value in test]}}
            for seed, (valid, test) in enumerate(seeds)
        ]  # fmt: skip
        return replace(record(row, dataset, 10.0, **tuned), runs=runs)

    cells = [("no_pretrain", "bbbp", 0), ("no_pretrain", "bace", 2), ("adgcl", "bbbp", 10), ("adgcl", "bace", 20)]
    records = [with_courses(row, f"moleculenet-{name}", shift) for row, name, shift in cells]
    assert at_best(records[0]) == (50 + 40) / 2 and at_last(records[0]) == (52 + 58) / 2
    assert at_best(replace(records[0], higher_is_better=False)) == (61 + 45) / 2
    assert over_tail(records[0]) is None, "three epochs have no tail"
    noted = main_table(compare_records(layout("table2"), MODE, records)).notes
    rule = "The same runs, every row"
    best = "at the epoch that is best on validation data"
    assert f"{rule} {best} ({MODE}): No Pre-Train 46.00; AD-GCL-FIX 60.00." in noted
    assert f"{rule} at the last epoch ({MODE}): No Pre-Train 56.00; AD-GCL-FIX 70.00." in noted
    assert not any("on average over the last" in note for note in noted)
    folds = [{**run, "folds": [1.0, 2.0]} for run in records[0].runs]
    assert at_last(replace(records[0], runs=folds)) is None, "the epochs of folds cannot be told apart"


def test_the_last_epochs_are_averaged_where_all_runs_have_them():
    """50 before the tail and 70, 71, ... in it: the mean is that of the tail alone."""
    epochs = list(range(1, TAIL + 6))
    test = [50.0] * 5 + [70.0 + i for i in range(TAIL)]
    run = {"seed": 0, "folds": [0.0], "course": {"epochs": epochs, "valid": test, "test": test}}
    found = replace(record("adgcl", "moleculenet-bace", 10.0, protocol="finetune", probe="head"), runs=[run])
    assert over_tail(found) == 70 + (TAIL - 1) / 2
    holey = {**run, "course": {**run["course"], "test": [*test[:-1], None]}}
    assert over_tail(replace(found, runs=[run, holey])) is None, "an undefined score has no mean"


def test_what_rows_start_from_is_noted():
    def started(row: str, start: str, epochs: int) -> Record:
        origin = {"method": row, "epochs": epochs, "data": "ZINC-250K", "graphs": 249455, "checksum": "c"}
        config = {"training": {"start_from": start}, "started_from": origin}
        return record(row, "moleculenet-bbbp", 64.0, protocol="finetune", probe="head", metric="rocauc", config=config)

    table = compare_records(layout("table2"), MODE, [started("graphcl", "seed-0", 3), started("adgcl", "zinc-gin", 2)])
    assert table is not None
    assert (
        "Pre-trained here: GraphCL 3 epochs on ZINC-250K (249,455 graphs); AD-GCL-FIX 2 epochs on ZINC-250K (249,455 "
        "graphs), the packaged zinc-gin with settings of its own."
    ) in main_table(table).notes


def test_a_coarser_precision_is_noted():
    def computed(row: str, precision: str) -> Record:
        config = {"training": {"precision": precision}}
        return record(row, "moleculenet-bbbp", 64.0, protocol="finetune", probe="head", metric="rocauc", config=config)

    def noted(*records: Record) -> list[str]:
        table = compare_records(layout("table2"), MODE, records)
        return [note for note in main_table(table).notes if note.startswith("Computed in")]

    assert noted(computed("graphcl", "bfloat16"), computed("adgcl", "bfloat16")) == ["Computed in bfloat16: all rows."]
    assert noted(computed("graphcl", "float32"), computed("adgcl", "bfloat16")) == ["Computed in bfloat16: AD-GCL-FIX."]
    assert noted(computed("graphcl", "float32"), computed("adgcl", "float32")) == []


def test_plain_words():
    table = compared(
        record("adgcl", "MUTAG", 89.0), record("random_init", "MUTAG", 95.0), record("adgcl", "PROTEINS", 60.0),
        record("statistics", "PROTEINS", 59.9),
    )  # fmt: skip
    mutag, proteins = findings(table, MODE)
    assert (mutag.verdict, proteins.verdict) == ("equal", "worse") and mutag.winners == ["random_init"]
    assert (
        "equal to the published 89.25 ± 1.45" in mutag.sentence()
        and "An untrained encoder wins with 95.00" in mutag.sentence()
    )
    assert "Plain statistics loses with 59.90" in proteins.sentence()
    assert "equal on 1 (MUTAG); worse on 1 (PROTEINS)" in overview([mutag, proteins])
    assert "an untrained encoder beats it on 1 of 1 (MUTAG)" in overview([mutag, proteins])
    tuned = {"protocol": "finetune", "probe": "head", "metric": "rocauc"}
    rows = [record(row, "moleculenet-bace", mean, **tuned) for row, mean in (("adgcl", 71.0), ("no_pretrain", 69.0))]
    (bace,) = findings(compare_records(layout("table2"), MODE, rows), MODE)
    assert bace.sentence().endswith("No pre-training loses with 69.00 ± 1.00 (not significant).")


def test_labels_are_the_papers():
    assert [printed_label(row) for row in ("adgcl", "adgcl-opt", "statistics", "adgcl-best")] == [
        "AD-GCL-FIX", "AD-GCL-OPT", "graph statistics", "AD-GCL-BEST",
    ]  # fmt: skip
    assert len(cell_values(SMALL)) == 6
