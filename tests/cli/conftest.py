"""Small data and a finished run for the tests of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from adgcl.cli.main import main

SMALL = ("--set", "encoder.hidden_dim=8", "--set", "encoder.num_layers=2")
MOLECULES = (
    ("ethanol", "CCO", -0.3), ("benzene", "c1ccccc1", 2.1), ("broken", "C1CC", 1.0), ("acid", "CC(=O)O", -0.2),
    ("amine", "CCN", -0.1), ("hexane", "CCCCCC", 3.9), ("nothing", "", 0.0), ("ring", "C1CCCCC1", 3.4),
    ("propanol", "CC(C)O", 0.05), ("glycerol", "OCC(O)CO", -1.8), ("toluene", "Cc1ccccc1", 2.7),
    ("phenol", "Oc1ccccc1", 1.5), ("ether", "CCOCC", 0.9), ("methane", "C", 1.1), ("words", "not a molecule", 0.0),
    ("urea", "NC(N)=O", -2.1),
)  # fmt: skip
UNREADABLE = ("broken", "nothing", "words")


@dataclass(frozen=True)
class Answer:
    """What a command line gave back."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err


Run = Callable[..., Answer]


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test works in a folder of its own; packed data is shared."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path_factory.getbasetemp() / "packed"))


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in this process."""

    def call(*arguments: object) -> Answer:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        assert "--debug" in arguments or "Traceback" not in out + err
        return Answer(code, out, err)

    return call


def write_molecules(path: Path) -> Path:
    rows = [f'{name},{smiles},{value},"a, b"' for name, smiles, value in MOLECULES]
    path.write_text("name,smiles,logp,note\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def write_tu(folder: Path, name: str = "TOYS", labels: int = 3, graphs: int = 24) -> Path:
    """Rings and chains of four to seven nodes in TU format; a ring is class 1."""
    edges, indicator, node_labels, classes = [], [], [], []
    for graph in range(graphs):
        size, ring, first = 4 + graph % 4, graph % 2, len(indicator) + 1
        pairs = [(first + i, first + i + 1) for i in range(size - 1)] + [(first, first + size - 1)] * ring
        edges += [f"{a}, {b}\n{b}, {a}" for a, b in pairs]
        indicator += [str(graph + 1)] * size
        node_labels += [str(i % labels) for i in range(size)]
        classes.append(str(ring))
    folder.mkdir(parents=True)
    parts = {"A": edges, "graph_indicator": indicator, "node_labels": node_labels, "graph_labels": classes}
    for part, lines in parts.items():
        (folder / f"{name}_{part}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def molecules(tmp_path: Path) -> Path:
    """A CSV file of 16 rows, three of which cannot be read."""
    return write_molecules(tmp_path / "molecules.csv")


@pytest.fixture
def toys(tmp_path: Path) -> Path:
    """A folder in TU format with a name that nobody knows."""
    return write_tu(tmp_path / "TOYS")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that is finished: AD-GCL on the small molecules."""
    folder = tmp_path_factory.mktemp("finished")
    data = write_molecules(folder / "molecules.csv")
    assert main(["pretrain", str(data), "--out", str(folder / "run"), "--epochs", "2", *SMALL, "--quiet"]) == 0
    return folder / "run"
