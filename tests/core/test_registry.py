"""A registry finds what is in its folder and what other packages bring, and a broken file breaks nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from adgcl.core.errors import UnknownNameError
from adgcl.core.registry import Registry


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of variants on the import path: one that works and one that does not."""
    folder = tmp_path / "shapes"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from adgcl.core.registry import Registry\nSHAPES = Registry('shape', 'shapes')\n"
    )
    (folder / "circle.py").write_text("from shapes import SHAPES\n@SHAPES.register('circle')\nclass Circle: ...\n")
    (folder / "broken.py").write_text("import a_package_that_is_not_there\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] in ("shapes", "shapes_extra")]:
        del sys.modules[name]


def registry() -> Registry[type]:
    from shapes import SHAPES

    return SHAPES


def test_a_broken_file_is_named_and_the_others_work(package: Path) -> None:
    shapes = registry()
    assert list(shapes) == ["circle"] and shapes["circle"].__name__ == "Circle"
    assert list(shapes.broken) == ["shapes.broken"] and "a_package_that_is_not_there" in shapes.broken["shapes.broken"]
    with pytest.raises(UnknownNameError) as caught:
        shapes["square"]
    assert "shapes.broken cannot be imported" in str(caught.value)


def test_another_package_adds_a_variant_by_an_entry_point(package: Path) -> None:
    extra = package.parent / "shapes_extra"
    extra.mkdir()
    (extra / "__init__.py").write_text("")
    (extra / "square.py").write_text("from shapes import SHAPES\n@SHAPES.register('square')\nclass Square: ...\n")
    about = package.parent / "shapes_extra-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shapes-extra\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[shapes]\nsquare = shapes_extra.square\ngone = shapes_extra.gone\n")
    shapes = registry()
    assert list(shapes) == ["circle", "square"]
    assert "gone (shapes_extra.gone)" in shapes.broken
