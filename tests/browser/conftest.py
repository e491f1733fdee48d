"""A real browser and a JupyterLab of its own. Tests are skipped, with the reason, where there is none."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LOCAL = re.compile(r"^(http://127\.0\.0\.1|ws://127\.0\.0\.1|data:|blob:|file:|about:)")


def find_chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    given = os.environ.get("WORKBENCH_CHROMIUM")
    return given or next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A running Chromium. Not for the whole session: Playwright keeps an event loop in this thread."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield running
        running.close()


@dataclass
class Watched:
    """A page, what it asked of the network outside this machine, and what went wrong in it."""

    page: Any
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def assert_clean(self) -> None:
        assert self.outside == []
        assert self.errors == []


def watch(browser: Any, width: int, height: int, **options: Any) -> Watched:
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    page = context.new_page()
    page.set_default_timeout(20_000)
    watched = Watched(page)

    def on_request(request: Any) -> None:
        if not LOCAL.match(request.url):
            watched.outside.append(request.url)

    def on_console(message: Any) -> None:
        if message.type == "error":
            watched.errors.append(f"{message.text} ({message.location.get('url')})")

    page.on("request", on_request)
    page.on("console", on_console)
    page.on("pageerror", lambda error: watched.errors.append(error.stack or str(error)))
    return watched


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab or Notebook: its address, the folder that it serves, its environment."""

    url: str
    token: str
    folder: Path
    environment: dict[str, str]
    #: where it shows a notebook
    path: str = "lab/tree"

    def open(self, page: Any, name: str) -> None:
        """Open a notebook and wait until its kernel is ready."""
        page.goto(f"{self.url}/{self.path}/{name}?reset&token={self.token}")
        page.wait_for_function(
            "window.jupyterapp && window.jupyterapp.shell.currentWidget?.sessionContext"
            "?.session?.kernel?.status === 'idle'"
        )

    def run_all(self, page: Any) -> None:
        page.evaluate(
            "async () => { const widget = jupyterapp.shell.currentWidget;"
            " await widget.context.ready; await widget.sessionContext.ready;"
            " await jupyterapp.commands.execute('notebook:run-all-cells'); }"
        )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    pytest.importorskip("jupyterlab", reason="JupyterLab is not installed")
    yield from served("jupyterlab", "lab/tree", tmp_path_factory)


@pytest.fixture(scope="session")
def classic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Notebook 7: one document a page, the same widgets."""
    pytest.importorskip("notebook", reason="the package notebook is not installed")
    yield from served("notebook", "notebooks", tmp_path_factory)


def served(module: str, path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server of its own, with settings of its own, until the tests are done."""
    pytest.importorskip("anywidget", reason="anywidget is not installed")
    home = tmp_path_factory.mktemp("jupyter")
    folder = tmp_path_factory.mktemp("notebooks")
    settings = home / "config" / "labconfig"
    settings.mkdir(parents=True)
    overrides = {
        "@jupyterlab/apputils-extension:notification": {
            "fetchNews": "false",
            "checkForUpdates": False,
        },
        "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    }
    (settings / "default_setting_overrides.json").write_text(json.dumps(overrides))
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
    }
    port, token = free_port(), secrets.token_hex(16)
    command = [
        *(sys.executable, "-m", module, "--no-browser", "--ip=127.0.0.1", f"--port={port}"),
        *("--ServerApp.port_retries=0", "--allow-root", f"--IdentityProvider.token={token}"),
        *(f"--ServerApp.root_dir={folder}", "--expose-app-in-browser"),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    log = home / "lab.log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            if server.poll() is not None:
                break
            try:
                urllib.request.urlopen(f"{url}/api/status?token={token}", timeout=2).close()
                break
            except OSError:
                time.sleep(0.25)
        else:
            pytest.fail(f"{module} did not start:\n{log.read_text()[-3000:]}")
        if server.poll() is not None:
            pytest.fail(f"{module} ended at once:\n{log.read_text()[-3000:]}")
        yield Lab(url, token, folder, environment, path)
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(20)


@pytest.fixture
def results() -> Path:
    """Where screenshots go."""
    folder = ROOT / "test-results"
    folder.mkdir(exist_ok=True)
    return folder
