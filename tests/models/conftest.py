"""A small package index on this machine that can be told to fail."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workbench.models.fetch import PackageFile

CONTENT = bytes(range(256)) * 4096


class Index(ThreadingHTTPServer):
    """Serves one file; keeps what was asked for, and cuts answers after ``cut`` bytes if told."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, str | None]] = []
        self.cuts: list[int] = []
        self.ranges = True
        self.as_json = False
        self.content = CONTENT
        self.login: str | None = None
        self.logins: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/simple"


class Handler(BaseHTTPRequestHandler):
    server: Index

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        index = self.server
        index.requests.append((self.path, self.headers.get("Range")))
        index.logins.append(self.headers.get("Authorization"))
        if self.path == "/simple/thing/":
            name = "../../files/thing%2B-1.whl"
            if index.as_json:
                body = f'{{"files": [{{"filename": "x", "url": "{name}"}}]}}'.encode()
                kind = "application/vnd.pypi.simple.v1+json"
            else:
                body = f'<a href="other.whl">o</a><a href="{name}#sha256=0">thing</a>'.encode()
                kind = "text/html"
            self.answer(200, body, kind, {})
        elif self.path == "/files/thing%2B-1.whl":
            self.file()
        else:
            self.answer(404, b"", "text/plain", {})

    def file(self) -> None:
        index, start, code, headers = self.server, 0, 200, {}
        wanted = self.headers.get("Range")
        if wanted and index.ranges:
            start, code = int(wanted.removeprefix("bytes=").removesuffix("-")), 206
            end = len(index.content) - 1
            headers["Content-Range"] = f"bytes {start}-{end}/{len(index.content)}"
        self.answer(code, index.content[start:], "application/zip", headers)

    def answer(self, code: int, body: bytes, kind: str, headers: dict[str, str]) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if kind == "application/zip" and self.server.cuts:
            body = body[: self.server.cuts.pop(0)]
        self.wfile.write(body)
        self.close_connection = True


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Index]:
    """The only index that is configured."""
    import os

    server = Index()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", server.url)
    monkeypatch.setattr("time.sleep", lambda _: None)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def thing() -> PackageFile:
    digest = hashlib.sha256(CONTENT).hexdigest()
    return PackageFile("thing", "thing+-1.whl", len(CONTENT), digest)
