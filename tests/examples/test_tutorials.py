"""Tutorials run from the first line to the last, as a reader would run them."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from adgcl.cli.main import main

_DOCS = Path(__file__).resolve().parents[2] / "docs"
_BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def in_shell(block: str) -> None:
    """Commands of adgcl run in this process, which saves a second each; here-documents go to bash."""
    while block.strip():
        line, _, rest = block.lstrip().partition("\n")
        if line.startswith("adgcl "):
            assert main(shlex.split(line, comments=True)[1:]) == 0, line
            block = rest
            continue
        end = re.search(r"^END\n", block, re.MULTILINE)
        assert line.startswith("cat > ") and end is not None, line
        subprocess.run(["bash", "-c", block[: end.end()]], check=True)
        block = block[end.end() :]


@pytest.mark.parametrize("persona", ["chemist", "researcher", "engineer"])
def test_tutorials_run(persona: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADGCL_CACHE", str(tmp_path / "packed"))
    blocks = _BLOCK.findall((_DOCS / "tutorials" / f"{persona}.md").read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    for language, block in blocks:
        if language == "bash":
            in_shell(block)
        else:
            exec(compile(block, f"{persona}.md", "exec"), names)
    made = {path.name for path in tmp_path.glob("*.html")}
    expected = {"chemist": {"map.html", "neighbours.html", "explain.html", "why.html", "report.html"}}
    assert expected.get(persona, set()) <= made
