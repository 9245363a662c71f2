"""The image cannot be built here; what its recipe says can be checked: files, versions, user and volumes."""

from __future__ import annotations

import re
import shlex
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.integration.test_requirements import closure

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def recipe() -> list[list[str]]:
    """The words of every instruction."""
    text = re.sub(r"(?m)^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    return [shlex.split(line) for line in text.replace("\\\n", " ").splitlines() if line.strip()]


@pytest.fixture(scope="module")
def locked() -> dict[str, str]:
    lines = (ROOT / "container/requirements.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def words(recipe: list[list[str]], name: str) -> list[list[str]]:
    return [line[1:] for line in recipe if line[0] == name]


def test_what_is_copied_exists_and_is_not_ignored(recipe: list[list[str]]):
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    for line in words(recipe, "COPY"):
        if line[0].startswith("--from"):
            continue
        for source in line[:-1]:
            assert (ROOT / source).exists(), source
            verdicts = [not rule.startswith("!") for rule in rules if fnmatch(source, rule.lstrip("!"))]
            assert verdicts and not verdicts[-1], f"{source} is ignored"


def test_nothing_else_is_sent_to_the_engine(recipe: list[list[str]]):
    copied = {source for line in words(recipe, "COPY") if not line[0].startswith("--") for source in line[:-1]}
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    assert {rule[1:] for rule in rules if rule.startswith("!")} == copied and "*" in rules


def test_it_does_not_run_as_root_and_keeps_data_and_runs_outside(recipe: list[list[str]]):
    (user,) = words(recipe, "USER")
    assert user == ["1000"] and recipe.index(["USER", "1000"]) < recipe.index(["ENTRYPOINT", "[adgcl]"])
    (volumes,) = words(recipe, "VOLUME")
    assert [volume.strip("[],") for volume in volumes] == ["/data", "/runs"]
    env = dict(pair.split("=", 1) for line in words(recipe, "ENV") for pair in line)
    assert env["ADGCL_DATA"] == "/data"
    written = (env["ADGCL_CACHE"], env["NUMBA_CACHE_DIR"], env["MPLCONFIGDIR"])
    assert all(place.startswith("/runs/") for place in written)


def test_every_version_is_fixed_and_allowed(locked: dict[str, str]):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["figures"], *extras["tune"]]
    missing = {name for name in closure(wanted) if name not in locked}
    assert not missing, "run scripts/lock"
    for line in wanted:
        requirement = Requirement(line)
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), line
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        name, _, version = line.partition("==")
        assert locked[canonicalize_name(name)] == version
