"""What an installation brings along: exactly the packages that are imported, and few of them."""

from __future__ import annotations

import ast
import importlib.metadata
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_ROOT = Path(__file__).resolve().parents[2]
_MOST = 40
# Where the name that is imported is not the name that is installed.
_DISTRIBUTIONS = {"sklearn": "scikit-learn", "pydantic_core": "pydantic", "llvmlite": "numba", "umap": "umap-learn",
                  "faiss": "faiss-cpu", "markupsafe": "jinja2"}  # fmt: skip
# What torch's builds for GPUs bring and its build for processors, which constraints.txt was tried with, does not.
_GPU = ("nvidia-", "cuda-", "triton")


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_few_packages_are_installed(project: dict) -> None:
    found = closure(project["dependencies"])
    assert len(found) <= _MOST, sorted(found)
    assert not {"pandas", "datamol", "torch-geometric", "openpyxl", "matplotlib"} & found


def test_the_count_follows_requirements_of_requirements(project: dict) -> None:
    found = closure(project["dependencies"])
    # torch needs sympy, which needs mpmath; typer needs rich, which needs pygments.
    assert {"sympy", "mpmath", "pygments"} <= found
    extras = project["optional-dependencies"]
    assert "aiohttp" in closure(extras["pyg"]) - found
    assert closure(extras["excel"]) == {"openpyxl", "et-xmlfile"}
    assert closure(extras["map"]) - found == {"umap-learn", "pynndescent", "tqdm"}
    assert closure(extras["search"]) - found <= {"faiss-cpu", "packaging"}
    assert closure(extras["slurm"]) - found <= {"submitit", "cloudpickle"}


def test_what_is_declared_is_what_is_imported(project: dict) -> None:
    names = ("pyg", "excel", "map", "search", "figures", "tune", "tensorboard", "wandb", "trackio", "mlflow", "ray",
             "slurm")  # fmt: skip
    extras = [line for name in names for line in project["optional-dependencies"][name]]
    declared = {canonicalize_name(Requirement(line).name) for line in [*project["dependencies"], *extras]}
    assert imported(_ROOT / "src" / "adgcl") == declared


def closure(requirements: list[str]) -> set[str]:
    """The names of all packages that these requirements install, going by what is installed here."""
    found: set[str] = set()
    waiting = [Requirement(line) for line in requirements]
    done: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name.startswith(_GPU):
            continue
        found.add(name)
        for extra in {"", *requirement.extras} - {extra for known, extra in done if known == name}:
            done.add((name, extra))
            lines = map(Requirement, importlib.metadata.requires(name) or ())
            waiting += [line for line in lines if line.marker is None or line.marker.evaluate({"extra": extra})]
    return found


def imported(folder: Path) -> set[str]:
    """The packages that the files of a folder import anywhere, those only used for type hints included."""
    modules: set[str] = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                modules.add((node.module or "").partition(".")[0])
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_extra":
                modules.add(ast.literal_eval(node.args[0]).partition(".")[0])
    modules -= {*sys.stdlib_module_names, "adgcl"}
    return {canonicalize_name(_DISTRIBUTIONS.get(module, module)) for module in modules}
