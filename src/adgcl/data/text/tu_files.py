"""The files of one TU-format data set, in a folder or a zip file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from adgcl.core.errors import DataError
from adgcl.data.fetch.archives import open_archive

_LAYOUT = "A TU-format data set is NAME_A.txt, NAME_graph_indicator.txt and more, in a folder or a zip file."


@dataclass(frozen=True)
class TuFiles:
    """The files `NAME_<part>.txt` by part: "A", "graph_indicator", "node_labels" and so on."""

    name: str
    where: Path
    members: dict[str, str]
    open: Callable[[str], Iterator[bytes]]

    def file_name(self, part: str) -> str:
        return f"{self.name}_{part}.txt"

    def has(self, part: str) -> bool:
        return self.file_name(part) in self.members

    def pieces(self, part: str) -> Iterator[bytes]:
        """The text of one part, which must be there, a piece at a time."""
        if not self.has(part):
            raise DataError(f"{self.file_name(part)} is missing in {self.where}.", _LAYOUT)
        return self.open(self.members[self.file_name(part)])


@contextmanager
def open_tu_files(path: Path, name: str | None = None) -> Iterator[TuFiles]:
    """Find the TU files called `name` (or the only ones) in a folder or zip file."""
    path = Path(path)
    if path.is_dir():
        paths = [*path.glob("*/*.txt"), *path.glob("*.txt")]
        found = [file.relative_to(path).as_posix() for file in paths]
        yield _choose(path, name, found, lambda member: _pieces(path / member))
    elif path.exists():
        with open_archive(path) as archive:
            yield _choose(path, name, archive.names(), archive.pieces)
    else:
        raise DataError(f"There is no {path}.", _LAYOUT)


def is_tu_folder(path: Path) -> bool:
    """Whether a folder holds TU-format files."""
    return path.is_dir() and any(any(path.glob(pattern)) for pattern in ("*_A.txt", "*/*_A.txt"))


def _choose(path: Path, name: str | None, found: Sequence[str], read: Callable[[str], Iterator[bytes]]) -> TuFiles:
    members = {p.name: member for member in found if "__MACOSX" not in (p := PurePosixPath(member)).parts}
    names = sorted(file.removesuffix("_A.txt") for file in members if file.endswith("_A.txt"))
    if name is None:
        name = _only_name(path, names)
    elif name not in names:
        # Archives on the web are not always named exactly like the data set they hold.
        name = next((n for n in names if n.lower() == name.lower()), name)
    return TuFiles(name, path, members, read)


def _pieces(path: Path, size: int = 1 << 22) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while piece := file.read(size):
                yield piece
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or error}.") from error


def _only_name(path: Path, names: list[str]) -> str:
    if not names:
        raise DataError(f"There is no file NAME_A.txt in {path}.", _LAYOUT)
    wanted = path.name.removesuffix(".zip")
    if len(names) == 1 or wanted in names:
        return wanted if wanted in names else names[0]
    raise DataError(f"{path} holds several data sets: {', '.join(names)}.", "Give the name of one.")
