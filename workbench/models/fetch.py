"""Fetching one known file from a Python package index, over interruptions.

The indexes, extra indexes and link folders are those that pip is configured with. A download goes to
``<name>.part``, continues from there with an HTTP range request after an interruption, in this call
or a later one, and gets its final name only when its hash is right.
"""

from __future__ import annotations

import ast
import base64
import functools
import json
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urldefrag, urljoin, urlsplit, urlunsplit
from urllib.request import Request, url2pathname, urlopen

from workbench.models.cache import file_hash

__all__ = ["FetchError", "PackageFile", "fetch"]

DEFAULT_INDEX = "https://pypi.org/simple"
CHUNK = 1 << 18
#: Attempts in a row that bring no byte before a download is given up.
ATTEMPTS = 4


class FetchError(Exception):
    """A file could not be had; the message says why, in a few words."""


@dataclass(frozen=True, slots=True)
class PackageFile:
    """One file of a package index, known by its hash."""

    project: str
    filename: str
    size: int
    sha256: str


def fetch(file: PackageFile, folder: Path, *, progress: bool = True) -> Path:
    """Fetch a file into a folder and return its path; a file that is there already is checked.

    Raises :class:`FetchError` when no configured index has it, none answers, or every copy is wrong.
    """
    target = folder / file.filename
    if target.exists():
        if file_hash(target) == file.sha256:
            return target
        target.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    for page in _pages(file.project):
        try:
            url = _find(page, file.filename)
            if url is None:
                problems.append(f"{_host(page)} does not have it")
                continue
            _download(url, _credentials(page, url), target, file, progress)
            return target
        except (OSError, HTTPException, ValueError, FetchError) as error:
            problems.append(f"{_host(page)}: {error}")
    raise FetchError("; ".join(problems) or "no package index is configured")


def _host(url: str) -> str:
    parts = urlsplit(url)
    return parts.hostname or parts.path


# Where to look: what pip would do.


@functools.cache
def _pip_config(_config_file: str | None) -> tuple[str, ...]:
    """The lines of ``pip config list``; the argument tells cached answers apart."""
    command = [sys.executable, "-m", "pip", "config", "list", "--disable-pip-version-check"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(done.stdout.splitlines())


def _pip_settings() -> dict[str, str]:
    """Read pip's configuration (files, then environment over them) as option -> value."""
    settings: dict[str, str] = {}
    lines = _pip_config(os.environ.get("PIP_CONFIG_FILE"))
    for prefix in ("global.", "download.", "install."):
        for line in lines:
            name, _, value = line.partition("=")
            if name.startswith(prefix):
                try:
                    settings[name.removeprefix(prefix)] = str(ast.literal_eval(value))
                except (ValueError, SyntaxError):
                    continue
    for name, value in os.environ.items():
        if name.startswith("PIP_") and value:
            settings[name.removeprefix("PIP_").lower().replace("_", "-")] = value
    return settings


def _pages(project: str) -> Iterator[str]:
    """The addresses to look at, in order: link folders, the index, extra indexes."""
    settings = _pip_settings()
    for link in settings.get("find-links", "").split():
        yield link if "://" in link else Path(link).expanduser().resolve().as_uri() + "/"
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        return
    indexes = [
        settings.get("index-url", DEFAULT_INDEX),
        *settings.get("extra-index-url", "").split(),
    ]
    for index in indexes:
        yield f"{index.rstrip('/')}/{project}/"


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.extend(value for name, value in attrs if name == "href" and value)


def _find(page: str, filename: str) -> str | None:
    """Find the address of a file on an index page or in a folder; None when it is not listed."""
    parts = urlsplit(page)
    if parts.scheme == "file":
        folder = Path(url2pathname(parts.path))
        if (folder / filename).is_file():
            return (folder / filename).as_uri()
        listing = folder / "index.html" if folder.is_dir() else folder
        if not listing.is_file():
            return None
        page = listing.as_uri()
    accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
    try:
        with _open(page, {"Accept": accept}, _credentials(page, page)) as answer:
            kind = answer.headers.get("Content-Type", "")
            body = answer.read(1 << 26)
            base = _without_login(answer.geturl())
    except HTTPError as error:
        if error.code in (404, 410):
            return None
        raise
    if "json" in kind:
        links: list[str] = [item["url"] for item in json.loads(body)["files"]]
    else:
        reader = _Links()
        reader.feed(body.decode("utf-8", errors="replace"))
        links = reader.found
    for link in links:
        url: str = urldefrag(urljoin(base, link)).url
        if unquote(urlsplit(url).path).rsplit("/", 1)[-1] == filename:
            return url
    return None


# Getting it.


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _credentials(page: str, url: str) -> str | None:
    """The Authorization header for a url, from the login in a page's address, same host only."""
    login, _, host = urlsplit(page).netloc.rpartition("@")
    if not login or urlsplit(url).netloc.rpartition("@")[2] != host:
        return None
    return "Basic " + base64.b64encode(unquote(login).encode()).decode("ascii")


def _open(url: str, headers: dict[str, str], authorization: str | None) -> Any:
    if authorization:
        headers = {**headers, "Authorization": authorization}
    request = Request(_without_login(url), headers={"User-Agent": "grammar-workbench", **headers})
    context = ssl.create_default_context()
    certificates = os.environ.get("PIP_CERT")
    if certificates and Path(certificates).is_file():
        context.load_verify_locations(certificates)
    return urlopen(request, timeout=60, context=context)


def _download(
    url: str, authorization: str | None, target: Path, file: PackageFile, progress: bool
) -> None:
    """Download to ``target``, continuing what an earlier call left."""
    from tqdm import tqdm

    part = target.with_name(target.name + ".part")
    failures = 0
    with tqdm(
        total=file.size, desc=file.filename, unit="B", unit_scale=True, disable=not progress
    ) as bar:
        while failures < ATTEMPTS:
            before = part.stat().st_size if part.exists() else 0
            if before < file.size:
                problem = _continue(url, authorization, part, file.size, bar)
            else:
                problem = None
            after = part.stat().st_size if part.exists() else 0
            if problem is None and after >= file.size:
                if after == file.size and file_hash(part) == file.sha256:
                    part.replace(target)
                    return
                part.unlink()
                problem, failures = "its hash is wrong", max(failures, ATTEMPTS - 2)
            failures = 0 if after > before and part.exists() else failures + 1
            if failures:
                time.sleep(min(4.0, 0.25 * 2**failures))
    raise FetchError(problem or "the download stopped")


def _continue(url: str, authorization: str | None, part: Path, size: int, bar: Any) -> str | None:
    """Read on from what is there; returns what stopped it, or None at the end of the data."""
    have = part.stat().st_size if part.exists() else 0
    bar.n = have
    bar.refresh()
    try:
        headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"} if have else {}
        with _open(url, headers, authorization) as answer:
            resumed = have and answer.headers.get("Content-Range", "").startswith(f"bytes {have}-")
            with part.open("ab" if resumed else "wb") as out:
                return _copy(answer, out, size, bar)
    except HTTPError as error:
        if error.code == 416:
            part.unlink(missing_ok=True)
        return f"HTTP {error.code}"
    except (URLError, OSError, HTTPException) as error:
        return str(getattr(error, "reason", error)) or type(error).__name__


def _copy(answer: Any, out: IO[bytes], size: int, bar: Any) -> str | None:
    bar.n = out.tell()
    while chunk := answer.read(CHUNK):
        if out.tell() + len(chunk) > size:
            out.write(chunk)  # too long: the hash check will refuse it
            return None
        out.write(chunk)
        bar.update(len(chunk))
    return None if out.tell() >= size else "the connection closed early"
