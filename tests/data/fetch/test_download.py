"""Downloads from a local server that has good and bad days."""

from __future__ import annotations

import hashlib
import socket
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from adgcl.core.errors import DataError, DataMissingError
from adgcl.core.schema import Task
from adgcl.data.dataset import Origin
from adgcl.data.entry import Download, Entry
from adgcl.data.fetch.download import Patience, fetch, file_sha256
from adgcl.data.fetch.prepare import bring

CONTENT = bytes(range(256)) * 4000
QUICK = Patience(timeout=2, tries=3, pause=0.01)


@dataclass
class Behaviour:
    """How the server answers: whether it knows Range, where it cuts off, and with which codes it begins."""

    content: bytes = CONTENT
    ranges: bool = True
    tag: str | None = '"one"'
    cut_after: list[int] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    wrong_range: bool = False
    requests: list[str | None] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        how = self.server.behaviour
        asked = self.headers.get("Range")
        how.requests.append(asked)
        if how.codes:
            self.send_error(how.codes.pop(0))
            return
        start = int(asked[6:-1]) if asked else 0
        same = self.headers.get("If-Range") in (None, how.tag)
        partial = bool(asked) and how.ranges and same
        if partial and start >= len(how.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(how.content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = how.content[start:] if partial else how.content
        self.send_response(206 if partial else 200)
        self.send_header("Content-Length", str(len(body)))
        if how.tag:
            self.send_header("ETag", how.tag)
        if partial:
            told = start + 1 if how.wrong_range else start
            self.send_header("Content-Range", f"bytes {told}-{len(how.content) - 1}/{len(how.content)}")
        self.end_headers()
        self.wfile.write(body[: how.cut_after.pop(0)] if how.cut_after else body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.behaviour = Behaviour()
        running.url = f"http://127.0.0.1:{running.server_port}/file.zip"
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def get(server, folder, sha256=None, progress=None):
    return fetch(Download(server.url, "sub/file.zip", sha256), folder, progress, QUICK)


def test_a_file_arrives_whole_with_its_progress(server, tmp_path):
    seen = []
    digest = hashlib.sha256(CONTENT).hexdigest()
    path = get(server, tmp_path, digest.upper(), lambda *report: seen.append(report))
    assert path == tmp_path / "sub" / "file.zip"
    assert path.read_bytes() == CONTENT
    assert file_sha256(path) == digest
    assert seen[-1] == ("download file.zip", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert [p.name for p in path.parent.iterdir()] == ["file.zip"]


def test_a_cut_transfer_goes_on_where_it_stopped(server, tmp_path):
    server.behaviour.cut_after = [1000, 500]
    assert get(server, tmp_path).read_bytes() == CONTENT
    assert server.behaviour.requests == [None, "bytes=1000-", "bytes=1500-"]


def test_a_later_run_goes_on_too(server, tmp_path):
    server.behaviour.cut_after = [1000, 0, 0]
    with pytest.raises(DataMissingError, match="cut after 1000 of 1024000 bytes"):
        get(server, tmp_path)
    assert (tmp_path / "sub" / "file.zip.part").stat().st_size == 1000
    assert not (tmp_path / "sub" / "file.zip").exists()
    server.behaviour.requests.clear()
    assert get(server, tmp_path).read_bytes() == CONTENT
    assert server.behaviour.requests == ["bytes=1000-"]


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("tag", ['"two"', None])
def test_it_starts_again_when_the_file_changed_or_cannot_be_continued(server, tmp_path, ranges, tag):
    server.behaviour.cut_after = [1000, 0, 0]
    with pytest.raises(DataMissingError):
        get(server, tmp_path)
    server.behaviour.content, server.behaviour.tag = CONTENT[::-1], tag
    server.behaviour.ranges = ranges
    assert get(server, tmp_path).read_bytes() == CONTENT[::-1]


def test_a_server_without_range_or_marks(server, tmp_path):
    server.behaviour = Behaviour(ranges=False, tag=None, cut_after=[1000])
    assert get(server, tmp_path).read_bytes() == CONTENT
    assert server.behaviour.requests == [None, None]


def test_a_shorter_or_shifted_file_is_not_glued_on(server, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "file.zip.part").write_bytes(b"x" * 2_000_000)
    (tmp_path / "sub" / "file.zip.part.mark").write_text('"one"')
    assert get(server, tmp_path).read_bytes() == CONTENT
    server.behaviour = Behaviour(wrong_range=True, cut_after=[1000])
    assert get(server, tmp_path).read_bytes() == CONTENT


def test_a_part_that_is_complete_is_only_moved(server, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "file.zip.part").write_bytes(CONTENT)
    (tmp_path / "sub" / "file.zip.part.mark").write_text('"one"')
    assert get(server, tmp_path).read_bytes() == CONTENT
    assert server.behaviour.requests == [f"bytes={len(CONTENT)}-"]


def test_a_wrong_checksum_deletes_what_arrived(server, tmp_path):
    with pytest.raises(DataError, match=r"not the expected file.*\n.*deleted") as caught:
        get(server, tmp_path, "0" * 64)
    assert not isinstance(caught.value, DataMissingError)
    assert not list((tmp_path / "sub").iterdir())


def test_busy_servers_are_asked_again_and_missing_files_not(server, tmp_path):
    server.behaviour.codes = [503, 429]
    assert get(server, tmp_path).read_bytes() == CONTENT
    server.behaviour = Behaviour(codes=[404])
    with pytest.raises(DataMissingError, match="404") as caught:
        get(server, tmp_path / "other")
    assert len(server.behaviour.requests) == 1
    assert f"put it at {tmp_path / 'other' / 'sub' / 'file.zip'}" in str(caught.value)
    server.behaviour = Behaviour(codes=[500] * 9)
    with pytest.raises(DataMissingError, match="500"):
        get(server, tmp_path / "third")
    assert len(server.behaviour.requests) == 3


def test_offline_says_what_to_do_by_hand(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/NAME.zip"
    with pytest.raises(DataMissingError, match="refused") as caught:
        fetch(Download(url, "tu/NAME.zip"), tmp_path, patience=QUICK)
    assert url in str(caught.value)
    assert str(tmp_path / "tu" / "NAME.zip") in str(caught.value)


def test_a_silent_server_is_given_up(tmp_path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/a"
        with pytest.raises(DataMissingError, match="timed out"):
            fetch(Download(url, "a"), tmp_path, patience=Patience(timeout=0.1, tries=1))


def test_only_the_web(tmp_path):
    with pytest.raises(DataError, match="not a web address"):
        fetch(Download("file:///etc/hostname", "a"), tmp_path)


def entry_of(url, **parts):
    return Entry("SET", "a set", Task("none", 0), Origin("test", "https://home"), lambda folder: None, **parts)


def test_bring_unpacks_archives_and_checks_what_was_in_them(server, tmp_path):
    import io
    import zipfile

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("set/data.csv", "1")
    server.behaviour.content = buffer.getvalue()
    downloads = (Download(server.url, "family/set.zip", unpack=True),)
    bring(entry_of(server.url, files=(("family/set/data.csv",),), downloads=downloads), tmp_path, patience=QUICK)
    assert [p.name for p in (tmp_path / "family").iterdir()] == ["set"]
    changed = entry_of(server.url, files=(("family/set/other.csv",),), downloads=downloads)
    with pytest.raises(DataError, match="has changed"):
        bring(changed, tmp_path, patience=QUICK)
    before = len(server.behaviour.requests)
    bring(entry_of(server.url, files=(("family/set/data.csv",),), downloads=downloads), tmp_path)
    assert len(server.behaviour.requests) == before
    with pytest.raises(DataMissingError, match="Its source is https://home"):
        bring(entry_of(server.url, files=(("no/where",),)), tmp_path)
