"""Report of what is installed: this program, Python, and the optional packages."""

from __future__ import annotations

import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

from .. import __version__
from ..client import AsyncClient
from ..messages.catalog import Text
from .finding import Finding

# Distribution, and the extra that installs it.
_OPTIONAL = (
    ("langchain", "chat"), ("httpx2", "chat"), ("langchain-ollama", "ollama"),
    ("langchain-anthropic", "anthropic"), ("langchain-google-genai", "google"), ("fastapi", "web"), ("mcp", "mcp"),
    ("playwright", "browser"), ("curl_cffi", "impersonate"), ("pypdf", "pages"), ("sqlalchemy", "chat"),
)  # fmt: skip


async def check(client: AsyncClient) -> list[Finding]:
    """Report versions, and the extras that are not installed."""
    system = f"{platform.system()} {platform.machine()}"
    params = {"version": __version__, "python": platform.python_version(), "system": system}
    findings = [Finding.ok("package", Text("doctor.ok.program", params))]
    found = versions()
    listed = ", ".join(f"{name} {number}" for name, number in found.items()) or "-"
    missing = sorted({extra for name, extra in _OPTIONAL if name not in found})
    findings.append(Finding.ok("package", Text("doctor.ok.packages", {"packages": listed})))
    if missing:
        command = f"pip install 'suyuan[{','.join(missing)}]'"
        findings.append(Finding.ok("package", Text("doctor.ok.more_packages", {"command": command})))
    return findings


def versions() -> dict[str, str]:
    """Return the installed optional packages with their versions."""
    found = {}
    for name, _ in _OPTIONAL:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
