"""A SearXNG container: its files, and the commands of Docker Compose."""

from __future__ import annotations

import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from ..core.causes import searxng as causes
from ..core.child_environment import CONTAINERS, child_environment
from ..core.errors import SuyuanError

PORT = 8080
_COMPOSE = "docker-compose.yml"
_FILES = (_COMPOSE, "settings.world.yml", "settings.china.yml")
_SECRET = re.compile(r"^SEARXNG_SECRET=(\S+)$", re.M)
_PORT = re.compile(r"^SEARXNG_PORT=(\d+)\s*$", re.M)
_REGION = re.compile(r"^SEARXNG_REGION=(\w+)\s*$", re.M)
_LIMITER = re.compile(r"^[^\S\n]*+(?:limiter|public_instance):\s*(?:true|yes|on)\b", re.M | re.I)
_LIMITER_VARIABLE = re.compile(r"^SEARXNG_LIMITER=(?:true|1)\b", re.M | re.I)
_VALKEY = re.compile(r"^[^\S\n]*+(?:url:|valkey:\s*+\{.*url:)\s*[\"']?(?:valkey|redis|rediss|unix)", re.M)
_VALKEY_VARIABLE = re.compile(r"^[^#\n]*SEARXNG_(?:VALKEY|REDIS)_URL", re.M)


def write(folder: Path, region: str = "world", port: int = PORT, *, force: bool = False) -> list[Path]:
    """Write the deployment into ``folder`` and return its files; existing files stay unless ``force``."""
    source = files("suyuan") / "deploy" / "searxng"
    env = folder / ".env"
    paths = [*(folder / name for name in _FILES), env]
    existing = next((path for path in paths if path.exists()), None)
    if existing and not force:
        raise causes.DEPLOYMENT_EXISTS(path=existing, folder=folder)
    text = _variables((source / ".env.example").read_text(encoding="utf-8"), _read(env), region, port)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            # The container reads them as another user.
            _write(folder / name, (source / name).read_text(encoding="utf-8"), 0o644)
        _write(env, text, 0o600)
    except OSError as error:
        raise causes.DEPLOYMENT_UNWRITABLE(path=error.filename or folder, why=error.strerror or error) from None
    return paths


def _variables(template: str, present: str, region: str, port: int) -> str:
    """The text of ``.env``, with the secret of the present one if it has any."""
    secret = _SECRET.search(present)
    values = {
        "SEARXNG_SECRET": secret[1] if secret else secrets.token_hex(32),
        "SEARXNG_REGION": region,
        "SEARXNG_PORT": str(port),
    }
    for name, value in values.items():
        template = re.sub(rf"^{name}=.*$", f"{name}={value}", template, flags=re.M)
    return template


def port_of(folder: Path) -> int:
    """Return the local port of the deployment in ``folder``."""
    found = _PORT.search(_read(folder / ".env"))
    return int(found[1]) if found else PORT


def limiter_without_effect(folder: Path) -> bool:
    """Whether the settings in ``folder`` turn the limiter on without the valkey that it needs: it is then off."""
    region = _REGION.search(_read(folder / ".env"))
    names = (f"settings.{region[1] if region else 'world'}.yml", "settings.yml", "core-config/settings.yml")
    settings = next((text for name in names if (text := _read(folder / name))), "")
    on = _LIMITER.search(settings) or _LIMITER_VARIABLE.search(_read(folder / ".env"))
    elsewhere = _read(folder / ".env") + _read(folder / _COMPOSE)
    return bool(on) and not _VALKEY.search(settings) and not _VALKEY_VARIABLE.search(elsewhere)


def compose(folder: Path, *arguments: str, which: Callable[[str], str | None] = shutil.which) -> None:
    """Run ``docker compose`` in ``folder`` with its output on the terminal; raises SuyuanError where it fails."""
    if not (folder / _COMPOSE).is_file():
        raise causes.NO_DEPLOYMENT(folder=folder)
    docker = which("docker")
    if docker is None:
        raise causes.DOCKER_MISSING()
    _require_docker(docker)
    output = []
    with subprocess.Popen(
        [docker, "compose", *arguments],
        cwd=folder,
        env=child_environment(*CONTAINERS),
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        for line in process.stderr or ():
            sys.stderr.write(line)
            output.append(line.strip())
    if process.returncode:
        raise _failure(folder, arguments, output)


def _require_docker(docker: str) -> None:
    if _quiet(docker, "compose", "version").returncode:
        raise causes.COMPOSE_MISSING()
    daemon = _quiet(docker, "info", "--format", "{{.ServerVersion}}")
    if daemon.returncode:
        raise causes.DOCKER_DENIED() if "permission denied" in daemon.stderr.lower() else causes.DOCKER_DOWN()


def _quiet(*command: str) -> subprocess.CompletedProcess[str]:
    try:
        environment = child_environment(*CONTAINERS)
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, errors="replace", timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def _failure(folder: Path, arguments: tuple[str, ...], output: list[str]) -> SuyuanError:
    text = " ".join(output)
    if "port is already allocated" in text or "address already in use" in text:
        return causes.DOCKER_PORT_TAKEN(port=port_of(folder), folder=folder)
    last = next((line for line in reversed(output) if line), "-")
    return causes.DOCKER_FAILED(command=" ".join(("docker compose", *arguments)), said=last[:300], folder=folder)


def _write(path: Path, text: str, mode: int) -> None:
    # Created with its mode, so that others can never read a secret.
    path.unlink(missing_ok=True)
    path.touch(mode)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
