"""What is installed: this program, Python, and the optional packages."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from .. import __version__
from ..client import AsyncClient
from ..messages.catalog import Text
from .finding import Finding

# Distribution, and the extra that brings it.
_OPTIONAL = (
    ("langchain", "chat"), ("langchain-openai", "chat"), ("langchain-ollama", "ollama"), ("langchain-anthropic", "anthropic"),
    ("langchain-google-genai", "google"), ("fastapi", "web"), ("mcp", "mcp"), ("playwright", "browser"), ("curl_cffi", "impersonate"),
    ("pypdf", "pages"), ("sqlalchemy", "chat"),
)  # fmt: skip


async def examine(client: AsyncClient) -> list[Finding]:
    """Versions, and what could be installed in addition."""
    system = f"{platform.system()} {platform.machine()}"
    here = {"version": __version__, "python": platform.python_version(), "system": system}
    findings = [Finding.well("package", Text("doctor.ok.program", here))]
    there = versions()
    listed = ", ".join(f"{name} {found}" for name, found in there.items()) or "-"
    missing = sorted({extra for name, extra in _OPTIONAL if name not in there})
    findings.append(Finding.well("package", Text("doctor.ok.packages", {"packages": listed})))
    if missing:
        line = f"pip install 'suyuan[{','.join(missing)}]'"
        findings.append(Finding.well("package", Text("doctor.ok.more_packages", {"command": line})))
    return findings


def versions() -> dict[str, str]:
    """The optional packages that are installed."""
    return {name: found for name, _ in _OPTIONAL if (found := installed(name))}


def installed(name: str) -> str:
    """The version of a distribution, or nothing."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
