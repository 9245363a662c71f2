"""The page to send: what was trained on what, how well it does, what it has learned, and how to repeat it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adgcl.core.errors import AdgclError
from adgcl.core.progress import Progress
from adgcl.core.provenance import versions
from adgcl.experiments.source import Source
from adgcl.insight.explanation import explain_data
from adgcl.insight.graph_map import map_data
from adgcl.pages import repeating
from adgcl.pages.drawing.pictures import Pictures
from adgcl.pages.explain_page import card, typical_graphs
from adgcl.pages.explain_words import Words
from adgcl.pages.frame import render
from adgcl.pages.map_page import lead, map_content
from adgcl.pages.material import Material, Run, settings_text, why
from adgcl.pages.themed import themed
from adgcl.reports import numbers
from adgcl.reports.curves import curves_of_metrics, figure_of_curves
from adgcl.reports.figure import figure_of_records
from adgcl.reports.folders import kept_metrics
from adgcl.reports.record_tables import pivots, record_list
from adgcl.reports.takeaway import takeaway
from adgcl.training.run_folder import RunFolder

_EXPLAINED = 6
_MOST_POINTS = 5_000


def report_page(
    material: Material, source: Source | None = None, *, plain: bool = False, progress: Progress | None = None
) -> str:
    """The page as HTML. The map and the explanations are of the first run, on `source` or on what it was trained on.

    What cannot be shown is left out with a remark that says why; `plain` leaves both out.
    """
    remarks: list[str] = []
    first = material.runs[0] if material.runs and not plain else None
    pictured = None if first is None else _picture(first, source, remarks, progress)
    records = material.records
    return render(
        "report",
        title=material.title,
        scripts=("sorting.js", "explain.js", *(("pictures.js", "map.js") if pictured and pictured["map"] else ())),
        data=pictured["map"] if pictured else None,
        lead=takeaway(records) if records else _lead(material),
        trained=[_trained(run) for run in material.runs],
        models=[_model(path, about) for path, about in material.models],
        figure=themed(figure_of_records(records)) if records else None,
        tables=pivots(records) if records else [],
        every=record_list(records, every=True) if records else None,
        curves=[figure for run in material.runs if (figure := _curves(run.path)) is not None],
        map_lead=pictured["lead"] if pictured else "",
        label=pictured["label"] if pictured else "",
        explained=pictured["explained"] if pictured else None,
        remarks=remarks,
        settings=[(str(run.path), settings_text(run.checkpoint.config.to_tree())) for run in material.runs],
        commands=repeating.commands(material),
        footer=_footer(material),
    )


def _lead(material: Material) -> str:
    if material.runs:
        run = material.runs[0]
        config = run.checkpoint.config
        return f"{config.method.name} after {run.checkpoint.position.epoch} epochs on {run.data or 'graphs in memory'}."
    return "A fine-tuned model: what it predicts, and how well."


def _trained(run: Run) -> dict[str, str]:
    checkpoint = run.checkpoint
    config, data = checkpoint.config, checkpoint.data
    weights = sum(tensor.numel() for name, tensor in checkpoint.tensors.items() if name.startswith("network/"))
    facts = {
        "run": str(run.path),
        "method": numbers.method_label(config.method.name),
        "trained on": f"{run.data or 'graphs in memory'} ({data.get('graphs', 0):,} graphs)",
        "encoder": f"{config.encoder.name}, {config.encoder.num_layers} layers of width {config.encoder.hidden_dim}",
        "parameters": f"{weights:,}",
        "epochs": f"{checkpoint.position.epoch} of {config.training.epochs}",
        "batch size": str(config.training.batch_size),
        "seed": str(config.training.seed),
        "node features": config.data.features,
    }
    if config.training.start_from:
        facts["started from"] = config.training.start_from
    return facts


def _model(path: Path, about: dict[str, Any]) -> dict[str, str]:
    origin = about.get("started_from") or {}
    unit = f" ({about['unit']})" if about.get("unit") else ""
    together = about.get("together") or {}
    scores = {
        f"{about['metric']} on {part}": f"{value:.3f}"
        for part, value in together.items()
        if isinstance(value, int | float)
    }
    return {
        "model": str(path),
        "predicts": ", ".join(about["labels"]) + unit,
        "networks": str(len(about["members"])),
        "learned from": f"{about['data'].get('name', '')} ({about['data'].get('graphs', 0):,} graphs)",
        "started from": f"{origin.get('method')} on {origin.get('data')}" if origin else "random weights",
        "split": str(about["split"]),
        **scores,
    }


def _curves(folder: Path) -> Any | None:
    curves = curves_of_metrics(RunFolder(folder).read_metrics(), kept_metrics(folder))
    return themed(figure_of_curves(curves, f"Training in {folder.name}")) if curves else None


def _picture(run: Run, source: Source | None, remarks: list[str], progress: Progress | None) -> dict[str, Any] | None:
    """The map and the explanations of a run; a remark for each that there is none of."""
    if source is None and not run.source:
        remarks.append("There is no map: the run was trained on graphs in memory. Name its data with --data.")
        return None
    data = source or Source(run.source)
    found: dict[str, Any] = {"map": None, "lead": "", "label": "", "explained": None}
    try:
        made = map_data(run.path, data, most=_MOST_POINTS, progress=progress)
        found |= {"map": map_content(made), "lead": lead(made), "label": f"Map of {len(made.dataset):,} graphs"}
    except AdgclError as error:
        remarks.append(f"There is no map: {why(error)}")
        return found
    try:
        explained = explain_data(run.path, data, progress=progress)
        said = Words(explained)
        pictures = Pictures(explained.dataset, explained.bonds, explained.chemistry)
        cards = [card(explained, pictures, graph) for graph in typical_graphs(explained, _EXPLAINED)]
        found["explained"] = {"words": said, "facts": said.facts, "warning": said.warning, "cards": cards}
    except AdgclError as error:
        remarks.append(f"There is no explanation: {why(error)}")
    return found


def _footer(material: Material) -> str:
    made = versions()
    found = (record.machine for record in material.records)
    machines = sorted({f"{machine.get('processor', '?')}, {machine.get('cores', '?')} cores" for machine in found})
    where = f" The scores were measured on {'; '.join(machines)}." if machines else ""
    listed = ", ".join(f"{name} {made[name]}" for name in ("torch", "rdkit", "numpy") if name in made)
    return f"Made by adgcl {made.get('adgcl', '')} ({listed}).{where}"
