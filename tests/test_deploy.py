"""What is deployed: container files, manifests, units and scripts pass their linters; the dashboard shows what there is."""

from __future__ import annotations

import json
import os
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
from support.timing import PATIENCE, until
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
    scripts = (ROOT / ".ci" / "run", *(ROOT / "tools").glob("*.sh"), *DEPLOY.glob("*.sh"))
    shells = [file for file in scripts if file.exists()]
    assert shells
    lint("shellcheck", *shells)


def test_every_container_is_confined() -> None:
    """Not root, no capabilities, nothing to gain, nothing to write but what is mounted."""
    composed = yaml.safe_load((DEPLOY / "team" / "compose.yml").read_text())["services"]
    for name, service in composed.items():
        assert service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"], name
        # SearXNG writes its settings at its start; Suyuan's user is in its container file, that of nginx in its image.
        assert service.get("read_only") or name == "searxng", name
        assert service.get("user", "") or name in ("suyuan1", "suyuan2") or "unprivileged" in service["image"], name
    assert "\nUSER 10001\n" in (DEPLOY / "team" / "Dockerfile").read_text()
    pods = [each["spec"]["template"]["spec"] for each in objects() if "template" in each.get("spec", {})]
    assert len(pods) == 3
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] > 0
        assert pod["automountServiceAccountToken"] is False
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] and context["capabilities"] == {"drop": ["ALL"]}
            assert context["allowPrivilegeEscalation"] is False


def test_only_the_proxy_is_believed_and_only_the_servers_reach_the_stores() -> None:
    compose = yaml.safe_load((DEPLOY / "team" / "compose.yml").read_text())
    services = compose["services"]
    believed = services["suyuan1"]["environment"]["SUYUAN_TRUSTED_PROXIES"]
    assert believed == services["nginx"]["networks"]["front"]["ipv4_address"] and "/" not in believed
    inside = {name for name, service in services.items() if "stores" in service["networks"]}
    assert inside == {"suyuan1", "suyuan2", "valkey", "postgres"} and compose["networks"]["stores"] == {
        "internal": True
    }
    found = objects()
    [settings] = [each["data"] for each in found if each["kind"] == "ConfigMap"]
    assert settings["SUYUAN_TRUSTED_PROXIES"].endswith("/32")
    policies = {each["metadata"]["name"]: each["spec"] for each in found if each["kind"] == "NetworkPolicy"}
    nobody = policies.pop("nobody")
    assert nobody == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    labels = {
        one["spec"]["template"]["metadata"]["labels"]["app"] for one in found if "template" in one.get("spec", {})
    }
    assert {each["podSelector"]["matchLabels"]["app"] for each in policies.values()} == labels
    for store in ("postgres", "valkey"):
        assert [rule["from"] for rule in policies[store]["ingress"]] == [
            [{"podSelector": {"matchLabels": {"app": "suyuan"}}}]
        ]


def test_valkey_wants_its_password(tmp_path: Path) -> None:
    """The very commands of both deployments, with a real server."""
    server = shutil.which("valkey-server") or shutil.which("redis-server")
    tool = shutil.which("valkey-cli") or shutil.which("redis-cli")
    if server is None or tool is None:
        pytest.skip("neither Valkey nor Redis is installed on this machine")
    composed = yaml.safe_load((DEPLOY / "team" / "compose.yml").read_text())["services"]["valkey"]
    [pod] = [
        each["spec"]["template"]["spec"]["containers"][0]
        for each in objects()
        if (each["kind"], each["metadata"]["name"]) == ("Deployment", "valkey")
    ]
    commands = (
        (composed["command"][-1].replace("$$", "$"), composed["healthcheck"]["test"][1].replace("$$", "$")),
        (pod["command"][-1], pod["readinessProbe"]["exec"]["command"][-1]),
    )
    for number, (command, probe) in enumerate(commands):
        socket = tmp_path / f"{number}.sock"
        script = command.replace("valkey-server - ", f"{server} - --port 0 --unixsocket {socket} ")
        _ask_valkey(script, probe.replace("valkey-cli", f"{tool} -s {socket}"), socket)


def _ask_valkey(script: str, probe: str, socket: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "VALKEY_PASSWORD": "s3cret-1"}
    process = subprocess.Popen(["sh", "-c", script], env=environ, cwd=socket.parent, stdout=subprocess.DEVNULL)

    def is_ready(password: str) -> bool:
        known = {**environ, "VALKEY_PASSWORD": password}
        return subprocess.run(["sh", "-c", probe], env=known, check=False, stderr=subprocess.DEVNULL).returncode == 0

    try:
        assert until(lambda: socket.exists() and is_ready("s3cret-1"))
        assert not is_ready("wrong")
        assert "s3cret-1" not in Path(f"/proc/{process.pid}/cmdline").read_text()
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_images_are_pinned_by_what_the_registry_says(tmp_path: Path) -> None:
    """With a stand-in for docker, since there is no registry: every public image gets its digest, and again a new one."""
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text('#!/bin/sh\necho "sha256:$(printf %s "$SALT$4" | sha256sum | cut -c1-64)"\n')
    docker.chmod(0o755)
    files = [*MANIFESTS, DEPLOY / "team" / "env.example"]
    copies = [Path(shutil.copy(file, tmp_path)) for file in files]
    for salt in ("1", "2"):
        environ = {"PATH": f"{docker.parent}:{os.environ['PATH']}", "SALT": salt}
        command = [str(DEPLOY / "pin-images.sh"), *map(str, copies)]
        told = subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout.split()
        assert len(told) == 5 and len(set(told)) == 5
        text = "".join(file.read_text() for file in copies)
        images = re.findall(r"(?:_IMAGE=|image: +)([^\s#]+)", text)
        assert {image for image in images if not image.startswith("suyuan:")} == set(told)
    assert [len(file.read_text().splitlines()) for file in copies] == [
        len(file.read_text().splitlines()) for file in files
    ]
    # What the compose file and the container file start is what the script pins.
    named = set(re.findall(r"([A-Z]+_IMAGE)", (DEPLOY / "team" / "compose.yml").read_text()))
    assert named == set(re.findall(r"^([A-Z]+_IMAGE)=", (DEPLOY / "team" / "env.example").read_text(), re.M))
    docker.write_text("#!/bin/sh\necho latest\n")
    failed = subprocess.run(command, env=environ, check=False, capture_output=True, text=True)
    assert failed.returncode == 1 and "gave no digest" in failed.stderr


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
