"""A real SearXNG on loopback, from a source folder that a variable names; nothing of it is part of this project."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SOURCE, PYTHON = "BENCH_SEARXNG", "BENCH_SEARXNG_PYTHON"
"""The variables that name the source folder of SearXNG, and a Python that has its requirements."""


def missing() -> str:
    """Say why there is no SearXNG to start; empty if there is one."""
    folder = os.environ.get(SOURCE, "")
    if not folder:
        return f"{SOURCE} does not name the source folder of SearXNG"
    if not (Path(folder) / "searx" / "webapp.py").is_file():
        return f"{folder} ({SOURCE}) holds no SearXNG"
    return ""


def xpath_engine(name: str, url: str, results: str, link: str, content: str, **more: Any) -> dict[str, Any]:
    """The settings of an engine that reads a page; the XPaths of link and content are relative to a result."""
    paths = {"results_xpath": results, "url_xpath": f"{link}/@href", "title_xpath": link, "content_xpath": content}
    return _engine(name, "xpath", url, paths | more)


def json_engine(name: str, url: str, results: str, content: str, **more: Any) -> dict[str, Any]:
    """The settings of an engine that reads JSON."""
    keys = {"results_query": results, "url_query": "url", "title_query": "title", "content_query": content}
    clean = {"title_html_to_text": True, "content_html_to_text": True}
    return _engine(name, "json_engine", url, keys | clean | more)


def _engine(name: str, kind: str, url: str, more: Mapping[str, Any]) -> dict[str, Any]:
    short = {"name": name, "engine": kind, "shortcut": name, "categories": ["general"]}
    # Loopback is plain http.
    return {**short, "enable_http": True, "search_url": url + "?q={query}", **more}


@contextmanager
def searxng(
    engines: Sequence[Mapping[str, Any]], threads: int = 4, **sections: Mapping[str, Any]
) -> Iterator[tuple[str, int]]:
    """Run SearXNG with one worker while the block lasts; gives its address and the id of its process."""
    settings = {
        "use_default_settings": {"engines": {"keep_only": []}},
        "general": {"enable_metrics": False},
        "search": {"formats": ["html", "json", "csv", "rss"], **sections.pop("search", {})},
        "server": {"secret_key": "only for this run", "limiter": False, **sections.pop("server", {})},
        # Without the remover of trackers, which fetches its rules from the web at start.
        "plugins": {"searx.plugins.calculator.SXNGPlugin": {"active": True}},
        "engines": list(engines),
        **sections,
    }
    with tempfile.TemporaryDirectory() as home:
        # JSON is YAML.
        Path(home, "settings.yml").write_text(json.dumps(settings), encoding="utf-8")
        port = _free_port()
        command = [
            os.environ.get(PYTHON) or sys.executable, "-m", "granian", "--interface", "wsgi", "--no-ws", "--workers", "1",
            "--blocking-threads", str(threads), "--host", "127.0.0.1", "--port", str(port), "searx.webapp:app",
        ]  # fmt: skip
        environment = {
            "PATH": os.environ.get("PATH", ""), "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8",
            "SEARXNG_SETTINGS_PATH": f"{home}/settings.yml", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        log = Path(home, "log")
        with log.open("wb") as out:
            process = subprocess.Popen(command, cwd=os.environ[SOURCE], env=environment, stdout=out, stderr=out)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, process, log)
            yield url, process.pid
        finally:
            process.terminate()
            process.wait(30)


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _wait(url: str, process: subprocess.Popen[bytes], log: Path, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/healthz", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("SearXNG did not start: " + log.read_text(encoding="utf-8", errors="replace")[-1000:])
