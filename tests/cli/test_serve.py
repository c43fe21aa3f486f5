"""``suyuan serve`` in a process of its own."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sqlite3
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the optional extra suyuan[web] is not installed")

from doctor.fake_servers import searxng
from server.serving import client
from support.oai import reply, serve_model, stall
from support.site import free_port, serve
from support.site import reply as site_reply
from support.timing import PATIENCE
from suyuan.core.errors import SuyuanError
from suyuan.core.notices import Notices
from suyuan.llm.connected_models import ConnectedModels
from suyuan.llm.settings import ModelSettings
from suyuan.pages.archive import Archive
from suyuan.search.connected_engines import ConnectedEngines
from suyuan.server.sockets import listen
from suyuan.store.conversations import Store


@asynccontextmanager
async def started(*args: str, home: Path, **environ: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the command in a process of its own, which is ended in any case."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "VIRTUAL_ENV", "PYTHONPATH")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "suyuan", *args,
        env={**kept, "HOME": str(home), "LANG": "C.UTF-8", **environ},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def address_of(process: asyncio.subprocess.Process) -> tuple[str, str]:
    """Return the address that the command prints, and all of its output until then."""
    assert process.stdout is not None
    output = ""
    async with asyncio.timeout(PATIENCE):
        while "Ctrl-C" not in output:
            line = (await process.stdout.readline()).decode()
            assert line, output
            output += line
    found = re.search(r"http://\S+", output)
    assert found, output
    return found[0], output


async def failed(*args: str, home: Path, **environ: str) -> tuple[int | None, str]:
    async with started(*args, home=home, **environ) as process:
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate()
        assert b"Traceback" not in err and out == b""
        return process.returncode, err.decode()


async def test_it_prints_its_address_model_and_engine(tmp_path: Path) -> None:
    async with started("serve", "--port", "0", "--no-open", home=tmp_path) as process:
        url, output = await address_of(process)
        assert url.startswith("http://127.0.0.1:") and "Model: embedded" in output and "search: auto" in output
        async with client(url) as ask:
            assert await ask("GET", "/healthz") == (200, "OK")
            status, page = await ask("GET", "/", Accept="text/html")
            assert status == 200 and "<html" in page
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE):
            _, err = await process.communicate()
        assert process.returncode == 0 and err.decode() == "Stopped; everything is saved.\n"


async def test_chinese(tmp_path: Path) -> None:
    model = {"SUYUAN_MODEL": "m", "SUYUAN_MODEL_PROVIDER": "openai", "SUYUAN_MODEL_BASE_URL": "http://127.0.0.1:9/v1"}
    async with started("--ui", "zh", "serve", "--port", "0", "--no-open", home=tmp_path, **model) as process:
        _, output = await address_of(process)
        assert "溯源已启动" in output and "模型：m" in output and "按 Ctrl-C 停止" in output


async def test_ctrl_c_stops_a_running_answer_and_keeps_it(tmp_path: Path) -> None:
    with serve_model([[reply("Half "), stall(600)]]) as model:
        environ = {"SUYUAN_MODEL": "m", "SUYUAN_MODEL_PROVIDER": "openai", "SUYUAN_MODEL_BASE_URL": model.url}
        store = f"sqlite:///{tmp_path / 'kept.sqlite'}"
        async with started(
            "serve", "--port", "0", "--no-open", home=tmp_path, SUYUAN_STORE_URL=store, **environ
        ) as process:
            url, _ = await address_of(process)
            async with client(url) as ask:
                id = await ask.conversation(search=False)
                run = await ask.ask(id, "Hello?")
                async with asyncio.timeout(PATIENCE):
                    async for _, name, _ in ask.events(f"/api/runs/{run}/events"):
                        if name == "text":
                            break
                # A client that only listens must not delay the end.
                watching = await ask.session.get(f"{url}/api/conversations/{id}/changes")
                process.send_signal(signal.SIGINT)
                async with asyncio.timeout(PATIENCE):
                    _, err = await process.communicate()
                watching.close()
            assert process.returncode == 0 and "Traceback" not in err.decode() and "ERROR" not in err.decode()
        kept = Store(store)
        try:
            answer = kept.messages(id)[1]
            assert answer.state == "stopped" and answer.text.strip() == "Half"
        finally:
            kept.close()


async def test_a_port_in_use_is_an_error_with_a_hint(tmp_path: Path) -> None:
    port = free_port()
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", port)
    async with server:
        code, err = await failed("serve", "--port", str(port), "--no-open", home=tmp_path)
        assert code == 3 and f"Port {port}" in err and f"--port {port + 1}" in err
        code, err = await failed("--ui", "zh", "serve", "--port", str(port), "--no-open", home=tmp_path)
        assert code == 3 and f"端口 {port}" in err and f"--port {port + 1}" in err


async def test_an_address_other_than_loopback_needs_a_token(tmp_path: Path) -> None:
    code, err = await failed("serve", "--host", "0.0.0.0", "--no-open", home=tmp_path)
    assert code == 3 and "SUYUAN_TOKEN" in err and "openssl rand" in err
    async with started(
        "serve", "--host", "0.0.0.0", "--port", "0", "--no-open", home=tmp_path, SUYUAN_TOKEN="a-long-token"
    ) as process:
        url, output = await address_of(process)
        assert "token" in output and "a-long-token" not in output
        async with client(url) as ask:
            assert (await ask("GET", "/api/models"))[0] == 401
            assert (await ask("GET", "/api/models", Authorization="Bearer a-long-token"))[0] == 200


async def test_a_missing_package_is_an_error_with_the_extra(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['fastapi'] = None\n"
        "from suyuan.cli.main import main; sys.exit(main(['serve', '--no-open']))"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env={**os.environ, "HOME": str(tmp_path)}, stderr=asyncio.subprocess.PIPE
    )
    _, err = await process.communicate()
    assert process.returncode == 2 and "pip install 'suyuan[web]'" in err.decode() and "Traceback" not in err.decode()


def test_an_address_of_another_machine() -> None:
    for host in ("203.0.113.1", "no-such-host.invalid"):
        with pytest.raises(SuyuanError) as raised:
            listen(host, 0)
        assert raised.value.detail_code == "cannot_listen" and "--host 127.0.0.1" in raised.value.hint


async def test_the_command_line_imports_no_heavy_package() -> None:
    heavy = "('fastapi', 'uvicorn', 'langchain', 'sqlalchemy', 'rich')"
    code = f"import sys, suyuan.cli.main; print([name for name in {heavy} if name in sys.modules])"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert out.decode().strip() == "[]"


@pytest.mark.req("C2.1", "C2.5", "C6.4", "G6.3", "C6.3")
@pytest.mark.parametrize("workers", [1, 2])
async def test_what_the_check_at_the_start_finds_is_told_everywhere(tmp_path: Path, workers: int) -> None:
    """SearXNG without JSON and no Chrome: one block in the terminal, a warning for each in the log, and in the API."""
    async with serve(searxng({"empty": site_reply("forbidden", 403)})) as site:
        environ = {
            "SEARXNG_BASE_URL": site.url, "WEB_SEARCH_BACKEND": "google,searxng", "SUYUAN_CHROME": "/nowhere/chrome",
            "SUYUAN_STORE_URL": f"sqlite:///{tmp_path / 'own.sqlite'}",
        }  # fmt: skip
        command = ("-v", "--ui", "en", "serve", "--no-open", "--port", str(free_port()), "--workers", str(workers))
        async with started(*command, home=tmp_path, **environ) as process:
            address, _ = await address_of(process)
            async with client(address) as ask, asyncio.timeout(PATIENCE):
                told: list[dict[str, str]] = []
                while len(told) < 2:
                    told = (await ask("GET", "/api/health", Accept_Language="en"))[1]["notices"]
            process.send_signal(signal.SIGTERM)
            _, err = await process.communicate()
    assert [each["code"] for each in told] == ["json_api_off", "chrome_missing"]
    lines = err.decode().splitlines()
    for each in told:
        assert sum(line.startswith("! ") and each["message"] in line for line in lines) == 1, each
        helps = [line for line in lines if line.startswith("  ") and each["hint"].split("\n")[0][:40] in line]
        assert len(helps) == 1, "what helps stands in the terminal too"
        warned = [line for line in lines if "WARNING" in line and each["message"] in line]
        assert len(warned) >= 1 and each["hint"].split("\n")[0][:40] in warned[0], each


def _newer(file: Path) -> None:
    Store(f"sqlite:///{file}").close()
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE suyuan_revision SET version_num = '9999_x'")


def _of_another_program(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("CREATE TABLE other (id)")


def _cut(file: Path) -> None:
    Store(f"sqlite:///{file}").close()
    os.truncate(file, 20_000)


UNUSABLE = {
    "newer": _newer, "another program's": _of_another_program, "a folder": Path.mkdir, "cut": _cut,
    "text": lambda file: file.write_text("text " * 5000),
}  # fmt: skip


@pytest.mark.parametrize("harm", UNUSABLE.values(), ids=UNUSABLE)
async def test_a_store_that_cannot_be_used_ends_the_server_with_the_cause(
    harm: Callable[[Path], object], tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    harm(tmp_path / "data" / "chat.sqlite")
    said = {}
    for option in ("--supervise", "--no-supervise"):
        port = free_port()
        data = {"SUYUAN_DATA_DIR": str(tmp_path / "data")}
        code, said[option] = await failed("serve", "--port", str(port), "--no-open", option, home=tmp_path, **data)
        assert code == 3 and "everything is saved" not in said[option]
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
    # The same words, and that the server has ended.
    (cause,) = [line for line in said["--no-supervise"].splitlines() if "The server cannot be started" in line]
    assert cause in said["--supervise"] and "The server has ended" in said["--supervise"]


@pytest.mark.parametrize("workers", [1, 2])
async def test_what_is_met_at_the_start_is_told_on_the_terminal(tmp_path: Path, workers: int) -> None:
    data = tmp_path / "data"
    Store(f"sqlite:///{data / 'chat.sqlite'}").close()
    ConnectedEngines(data / "engine-keys.json", {}).add("brave", {"api_key": "key"})
    (data / "engine-keys.json").write_text("[{")
    ConnectedModels(data / "models.json", ModelSettings()).all()
    (data / "models.json").write_text("not JSON")
    Archive(data / "library" / "library.sqlite", notices=Notices(data), kind="library").close()
    (data / "library" / "library.sqlite").unlink()
    command = ["serve", "--port", "0", "--no-open", "--workers", str(workers)]
    async with started(*command, home=tmp_path, SUYUAN_DATA_DIR=str(data)) as process:
        await address_of(process)
        assert process.stderr is not None
        told = ""
        async with asyncio.timeout(PATIENCE):
            while not all(name in told for name in ("engine-keys.json.damaged", "models.json", "library.sqlite")):
                told += (await process.stderr.readline()).decode()
        assert "file is gone" in told


@pytest.mark.parametrize("option", ["--supervise", "--no-supervise"])
async def test_a_store_that_is_lost_while_it_runs_is_told_on_the_terminal(tmp_path: Path, option: str) -> None:
    places = {f"SUYUAN_{name}_DIR": str(tmp_path / name.lower()) for name in ("DATA", "STATE", "CONFIG")}
    async with started("serve", "--port", "0", "--no-open", option, home=tmp_path, **places) as process:
        url, _ = await address_of(process)
        assert process.stderr is not None
        said = ""
        async with client(url) as ask:
            await ask.conversation(search=False)
            os.truncate(tmp_path / "data" / "chat.sqlite", 0)
            status, _ = await ask("POST", "/api/conversations", {})
            assert status == 503
            async with asyncio.timeout(PATIENCE):
                while "chat.sqlite was overwritten" not in said:
                    said += (await process.stderr.readline()).decode()
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE):
            _, err = await process.communicate()
    said += err.decode()
    assert process.returncode == 0 and said.count("chat.sqlite was overwritten") == 1
    assert "everything is saved" not in said and "suyuan notices" in said.splitlines()[-1]
