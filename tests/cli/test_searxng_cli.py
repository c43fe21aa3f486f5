"""``suyuan searxng`` and ``suyuan doctor`` in a process of their own, with a fake ``docker`` command."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
import sys
from pathlib import Path

import pytest

from doctor.fake_servers import FORBIDDEN, fake_servers, searxng
from support.site import free_port, reply, serve
from suyuan.cli.main import main

DOCKER = """#!/bin/sh
echo "$PWD: $*" >> {log}
case "$*" in
  "compose version") {compose} ;;
  info*) {daemon} ;;
  *) {rest} ;;
esac
"""


def docker(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    compose: str = "exit 0",
    daemon: str = "exit 0",
    rest: str = "exit 0",
) -> Path:
    """Put a `docker` on the path that logs its arguments and runs the given shell commands."""
    tools = folder / "tools"
    tools.mkdir()
    log = folder / "docker.log"
    program = tools / "docker"
    program.write_text(DOCKER.format(log=log, compose=compose, daemon=daemon, rest=rest))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.defpath}")
    return log


async def suyuan(*args: str, **environ: str) -> tuple[int, str, str]:
    """Run the real command in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "suyuan",
        *args,
        env={**os.environ, **environ},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


class TestInit:
    @pytest.mark.req("C8.2")
    def test_it_writes_every_file_with_a_new_secret(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        secrets = set()
        for name in ("one", "two"):
            folder = tmp_path / name
            old = os.umask(0o077)
            try:
                assert main(["searxng", "init", str(folder), "--region", "china", "--port", "8099"]) == 0
            finally:
                os.umask(old)
            env = (folder / ".env").read_text()
            secrets.update(re.findall(r"^SEARXNG_SECRET=([0-9a-f]{64})$", env, re.M))
            assert "SEARXNG_REGION=china\n" in env and "SEARXNG_PORT=8099\n" in env
            assert stat.S_IMODE((folder / ".env").stat().st_mode) == 0o600
            for file in ("docker-compose.yml", "settings.world.yml", "settings.china.yml"):
                assert stat.S_IMODE((folder / file).stat().st_mode) == 0o644, "the container reads it as another user"
        assert len(secrets) == 2
        assert "SEARXNG_BASE_URL=http://localhost:8099" in capsys.readouterr().out

    def test_files_are_overwritten_only_with_force_and_the_secret_stays(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["searxng", "init", str(tmp_path)]) == 0
        first = (tmp_path / ".env").read_text()
        (tmp_path / "settings.world.yml").write_text("mine: true\n")
        assert main(["searxng", "init", str(tmp_path), "--port", "9000"]) == 2
        said = capsys.readouterr().err
        assert "deployment_exists" in said and "--force" in said
        assert (tmp_path / "settings.world.yml").read_text() == "mine: true\n" and (
            tmp_path / ".env"
        ).read_text() == first
        assert main(["searxng", "init", str(tmp_path), "--port", "9000", "--force"]) == 0
        assert (tmp_path / ".env").read_text() == first.replace("SEARXNG_PORT=8080", "SEARXNG_PORT=9000")
        assert "keep_only" in (tmp_path / "settings.world.yml").read_text()

    def test_a_folder_that_cannot_be_created(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "file").write_text("x")
        assert main(["searxng", "init", str(tmp_path / "file" / "below")]) == 2
        assert "deployment_unwritable" in capsys.readouterr().err

    @pytest.mark.parametrize("port", ["0", "70000", "many"])
    def test_an_invalid_port(self, tmp_path: Path, port: str) -> None:
        with pytest.raises(SystemExit):
            main(["searxng", "init", str(tmp_path / "x"), "--port", port])
        assert not (tmp_path / "x").exists()


class TestDocker:
    @pytest.mark.req("C9.3")
    @pytest.mark.parametrize(
        ("name", "command"),
        [
            ("up", "compose up -d"),
            ("down", "compose down"),
            ("restart", "compose restart"),
            ("logs", "compose logs --tail 100"),
        ],
    )
    def test_commands(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, command: str) -> None:
        main(["searxng", "init", str(tmp_path / "sx")])
        log = docker(tmp_path, monkeypatch)
        assert main(["searxng", name, str(tmp_path / "sx")]) == 0
        assert f"{tmp_path / 'sx'}: {command}\n" in log.read_text()

    @pytest.mark.parametrize(
        ("settings", "compose", "warned"),
        [
            ("server:\n  limiter: false\n", "", False),
            ("server:\n  limiter: true\n", "", True),
            ("server:\n  limiter: true\nvalkey:\n  url: false\n", "", True),
            ("server:\n  limiter: true\nvalkey:\n  url: valkey://valkey:6379/0\n", "", False),
            ("server:\n  limiter: true\n", "      SEARXNG_VALKEY_URL: valkey://valkey:6379/0\n", False),
            ("server:\n  limiter: true\n", "      # SEARXNG_VALKEY_URL: valkey://valkey:6379/0\n", True),
            ("server:\n  # limiter: true\n", "", False),
        ],
    )
    @pytest.mark.parametrize("file", ["settings.china.yml", "core-config/settings.yml"])
    def test_a_limiter_without_valkey_is_a_warning(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        file: str,
        settings: str,
        compose: str,
        warned: bool,
    ) -> None:
        docker(tmp_path, monkeypatch)
        (tmp_path / "core-config").mkdir()
        (tmp_path / file).write_text(settings)
        (tmp_path / "docker-compose.yml").write_text(f"services:\n  core:\n    environment:\n{compose}")
        (tmp_path / ".env").write_text("SEARXNG_REGION=china\n")
        assert main(["searxng", "up", str(tmp_path)]) == 0
        assert ("SearXNG runs unprotected" in capsys.readouterr().out) is warned

    @pytest.mark.req("C9.1")
    @pytest.mark.parametrize(
        ("replaced", "code", "hint"),
        [
            ({"compose": "exit 1"}, "compose_missing", "docker-compose-plugin"),
            (
                {"daemon": "echo 'Cannot connect to the Docker daemon' >&2; exit 1"},
                "docker_down",
                "systemctl start docker",
            ),
            (
                {"daemon": "echo 'permission denied while trying to connect' >&2; exit 1"},
                "docker_denied",
                "usermod -aG docker",
            ),
            (
                {"rest": "echo 'Bind for 127.0.0.1:8080 failed: port is already allocated' >&2; exit 1"},
                "docker_port_taken",
                "--port",
            ),
            ({"rest": "echo 'manifest unknown' >&2; exit 18"}, "docker_failed", "Run it in"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    @pytest.mark.parametrize("lang", ["en", "zh"])
    def test_failures(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        replaced: dict[str, str],
        code: str,
        hint: str,
        lang: str,
    ) -> None:
        main(["searxng", "init", str(tmp_path / "sx")])
        docker(tmp_path, monkeypatch, **replaced)
        assert main(["--ui", lang, "searxng", "up", str(tmp_path / "sx")]) == 3
        said = capsys.readouterr().err
        assert code in said and (hint in said or lang == "zh") and ("未能完成" in said) == (lang == "zh")

    def test_no_docker(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        main(["searxng", "init", str(tmp_path / "sx")])
        monkeypatch.setenv("PATH", str(tmp_path))
        assert main(["searxng", "up", str(tmp_path / "sx")]) == 3
        assert "docker_missing" in capsys.readouterr().err

    def test_a_folder_without_a_deployment(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["searxng", "up", str(tmp_path)]) == 2
        assert "suyuan searxng init" in capsys.readouterr().err


class TestCheck:
    @pytest.mark.req("C6.1")
    async def test_without_an_address_the_usual_one_is_checked(self) -> None:
        _, out, _ = await suyuan("searxng", "check", "--json", SEARXNG_BASE_URL="")
        assert json.loads(out)["base_url"] == "http://localhost:8080"

    @pytest.mark.req("C6.1", "C8.3")
    @pytest.mark.parametrize("address", ["localhost:8080", "ftp://x.example", "http://x.example/search", "http://a b"])
    async def test_an_address_that_cannot_be_is_told_as_such(self, address: str) -> None:
        code, out, _ = await suyuan("searxng", "check", "--json", address)
        assert code == 3 and json.loads(out)["error"]["detail_code"] == "searxng_bad_address"

    @pytest.mark.req("C6.1", "C8.3")
    async def test_a_working_instance(self) -> None:
        async with serve(searxng()) as site:
            code, out, err = await suyuan("searxng", "check", site.url)
            configured = await suyuan("searxng", "check", "--json", SEARXNG_BASE_URL=site.url)
        assert code == 0 and "works: 8 results" in out and "bing" in out and err == ""
        told = json.loads(configured[1])
        assert configured[0] == 0 and told["ok"] is True and told["base_url"] == site.url

    @pytest.mark.req("C8.3", "C2.5", "C9.2")
    async def test_an_instance_without_json(self) -> None:
        async with serve(searxng({"empty": reply(FORBIDDEN, 403)})) as site:
            code, _, err = await suyuan("searxng", "check", site.url)
            zh = await suyuan("--ui", "zh", "searxng", "check", site.url, "--json")
        assert code == 3 and "AuthError/json_api_off" in err and "formats" in err and "docker compose restart" in err
        data = json.loads(zh[1])
        assert (
            zh[0] == 3 and data["error"]["detail_code"] == "json_api_off" and "未启用 JSON" in data["error"]["message"]
        )

    @pytest.mark.req("C9.1", "C6.4")
    async def test_no_server(self) -> None:
        code, _, err = await suyuan("searxng", "check", f"http://127.0.0.1:{free_port()}")
        assert code == 3 and "docker ps" in err and "docker compose logs" in err and "suyuan searxng init" in err

    async def test_the_key_is_sent_to_the_configured_address_only(self) -> None:
        async with serve(searxng()) as site:
            await suyuan(
                "searxng",
                "check",
                site.url,
                SEARXNG_BASE_URL="http://searx.example",
                SEARXNG_API_KEY="Bearer secret-key",
            )
            assert site.seen and all("authorization" not in seen.headers for seen in site.seen)

    async def test_status_checks_the_port_of_the_deployment(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        log = docker(tmp_path, monkeypatch, rest="echo running")
        async with serve(searxng()) as site:
            port = site.url.rpartition(":")[2]
            main(["searxng", "init", str(tmp_path / "sx"), "--port", port])
            code, out, _ = await suyuan("searxng", "status", str(tmp_path / "sx"))
        assert code == 0 and "running" in out and "works" in out and "compose ps" in log.read_text()

    @pytest.mark.req("C8.1")
    @pytest.mark.parametrize(("lang", "title"), [("en", "# How to deploy SearXNG"), ("zh", "# 如何部署 SearXNG")])
    def test_the_guide(self, capsys: pytest.CaptureFixture[str], lang: str, title: str) -> None:
        assert main(["--ui", lang, "searxng", "guide"]) == 0
        assert capsys.readouterr().out.startswith(title)


class TestDoctor:
    async def test_a_working_installation(self, tmp_path: Path) -> None:
        async with fake_servers(tmp_path) as servers:
            code, out, err = await suyuan("doctor", **servers.environ())
        assert code == 0 and "Everything works." in out and "SearXNG 2026.9.25" in out and err == "", out + err

    @pytest.mark.req("C6.3", "C2.5")
    async def test_problems(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text('{\n"tools": {"webSearch": {"maxResults": 99}}}')
        async with fake_servers(tmp_path, search=searxng({"empty": reply(FORBIDDEN, 403)})) as servers:
            code, out, err = await suyuan("--config-dir", str(tmp_path), "doctor", **servers.environ())
            zh = await suyuan("--ui", "zh", "--config-dir", str(tmp_path), "doctor", "--json", **servers.environ())
        assert code == 1 and err == "" and "Errors: 1. Warnings: 1." in out
        assert (
            "[json_api_off]" in out
            and f"{tmp_path / 'config.json'}:2:" in out.replace("\n    ", "")
            and "/guide/searxng?lang=en" in out
        )
        data = json.loads(zh[1])
        assert zh[0] == 1 and (data["errors"], data["warnings"]) == (1, 1)
        assert {"json_api_off", "config_bad_value"} <= {finding["code"] for finding in data["findings"]}

    async def test_offline(self, tmp_path: Path) -> None:
        async with fake_servers(tmp_path) as servers:
            code, out, _ = await suyuan("doctor", "--offline", **servers.environ())
            assert code == 0 and "not tested" in out and servers.searxng.seen == [] and servers.model.seen == []

    async def test_stored_conversations_are_checked(self, tmp_path: Path) -> None:
        pytest.importorskip("sqlalchemy")
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "chat.sqlite").write_bytes(b"this is a text and no database " * 50)
        async with fake_servers(tmp_path) as servers:
            code, out, _ = await suyuan("doctor", "--offline", "--json", **servers.environ())
        assert code == 1 and [f["code"] for f in json.loads(out)["findings"] if f["area"] == "store"] == [
            "store_not_a_database"
        ]
