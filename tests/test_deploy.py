"""What is deployed: container files, manifests, units and scripts pass their linters; the dashboard shows what there is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from server.serving import client, serving, settings_of
from suyuan.config.settings import Settings
from suyuan.core.setting import declarations
from suyuan.server.limits import UPLOADS

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yml"))


def lint(program: str, *arguments: str | Path) -> None:
    """Run a linter of the development environment, or of this machine."""
    found = shutil.which(program, path=str(Path(sys.executable).parent)) or shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed on this machine")
    outcome = subprocess.run([found, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def objects() -> list[dict[str, Any]]:
    return [each for file in MANIFESTS for each in yaml.safe_load_all(file.read_text())]


def test_the_container_file_passes_hadolint() -> None:
    lint("hadolint", "--no-color", DEPLOY / "team" / "Dockerfile")


def test_a_container_with_chromium_has_what_drives_it() -> None:
    build, final = (DEPLOY / "team" / "Dockerfile").read_text().split("\nFROM ")[-2:]
    assert "install -y --no-install-recommends chromium" in final
    assert 'if [ "$BROWSER" = yes ]; then extras=team,mcp,pages,browser;' in build and "ARG BROWSER=no" in build


def test_proxies_let_the_largest_request_through() -> None:
    largest = max(size for size, _ in UPLOADS.values())
    files = [*(DEPLOY / "team").glob("*.conf"), DEPLOY / "kubernetes" / "suyuan.yml"]
    for file in files:
        [megabytes] = re.findall(r"body[_-]size:? (\d+)m\b", file.read_text())
        assert int(megabytes) * 2**20 >= largest, file


def test_the_compositions_fit_the_schema() -> None:
    files = [DEPLOY / "team" / "compose.yml", DEPLOY / "searxng" / "docker-compose.yml"]
    lint("check-jsonschema", "--builtin-schema", "vendor.compose-spec", *files)


def test_the_manifests_fit_the_schemas_of_kubernetes() -> None:
    import kubernetes_validate

    for each in objects():
        kubernetes_validate.validate(each, "1.31", strict=True)


def test_scripts_pass_shellcheck() -> None:
    shells = [file for file in (ROOT / ".ci" / "run", *(ROOT / "tools").glob("*.sh")) if file.exists()]
    assert shells
    lint("shellcheck", *shells)


def test_the_unit_passes_systemd(tmp_path: Path) -> None:
    unit = (DEPLOY / "team" / "suyuan.service").read_text()
    assert "/opt/suyuan/bin/suyuan" in unit
    # The program must exist, and is elsewhere here.
    file = tmp_path / "suyuan.service"
    file.write_text(unit.replace("/opt/suyuan/bin/suyuan", sys.executable))
    lint("systemd-analyze", "verify", file)


def test_the_manifests_name_what_there_is() -> None:
    known = {one.env for one in declarations(Settings)}
    text = "".join(file.read_text() for file in MANIFESTS)
    assert set(re.findall(r"\bSUYUAN_[A-Z_]+", text)) <= known
    found = objects()
    names = {(each["kind"], each["metadata"]["name"]) for each in found}
    for kind, pattern in (("ConfigMap", r"configMapRef: \{name: (\w+)"), ("Service", r"service: \{name: (\w+)")):
        for name in re.findall(pattern, text):
            assert (kind, name) in names
    # The hosts of the addresses are services.
    for host in re.findall(r"(?:@|redis://)(\w+)[:/]", text):
        assert ("Service", host) in names, host
    for each in found:
        if each["kind"] == "Service":
            pods = [one["spec"]["template"]["metadata"]["labels"] for one in found if "template" in one.get("spec", {})]
            assert each["spec"]["selector"] in pods
    [server] = [each for each in found if (each["kind"], each["metadata"]["name"]) == ("Deployment", "suyuan")]
    assert all(
        one["securityContext"]["readOnlyRootFilesystem"] for one in server["spec"]["template"]["spec"]["containers"]
    )


async def test_the_dashboard_shows_metrics_that_there_are() -> None:
    board = json.loads((DEPLOY / "grafana" / "suyuan.json").read_text())
    expressions = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    with serving(settings_of()) as served:
        async with client(served.url) as ask:
            await ask("POST", "/api/search", {"query": "x", "engines": "stub"})
            _, text = await ask("GET", "/metrics")
    there = set(re.findall(r"^# TYPE (\w+)", text, re.M)) | set(re.findall(r"^(\w+)[{ ]", text, re.M))
    labels = set(re.findall(r'(\w+)="', text)) | {"le"}
    shown = {name for each in expressions for name in re.findall(r"\bsuyuan_\w+", each)}
    assert shown and shown <= there, shown - there
    # Answers have labels only when there are some.
    wanted = {
        label for each in expressions for group in re.findall(r"by \(([^)]*)\)", each) for label in group.split(", ")
    }
    assert wanted <= labels, wanted - labels
    # And everything that is counted is shown.
    counted = {name for name in re.findall(r"^# TYPE (suyuan_\w+)", text, re.M) if not name.endswith("_created")}
    assert [each for each in counted if not any(each in name for name in shown)] == []
