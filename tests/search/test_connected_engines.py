"""Keys of engines that were entered on the page: used at once, by other processes too, and readable by nobody else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from support import pages
from support.client import client
from support.site import reply, serve
from suyuan.client import AsyncClient
from suyuan.config.settings import Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.secret import Secret

KEY = {"api_key": "entered-key-of-brave", "base_url": "", "options": {}}


def key_of(client: AsyncClient, name: str = "brave") -> str:
    engine: Any = client.engines[name].engine
    return str(engine.settings.api_key.reveal())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, engines={"brave": EngineSettings(api_key=Secret("configured-key"))})


async def test_what_is_entered_counts_before_the_configuration_until_it_is_forgotten(settings: Settings) -> None:
    async with AsyncClient(settings) as client, AsyncClient(settings) as other:
        assert key_of(client) == key_of(other) == "configured-key"
        client.engines["brave"].breaker.refused("a key that was wrong", retry_after=600)
        client.connected_engines.add("brave", KEY)
        client.connect_engines()
        assert key_of(client) == KEY["api_key"] and not client.engines["brave"].breaker.cooling_down
        assert KEY["api_key"] in str([secret.reveal() for secret in client.settings.secrets])
        # Another process knows by the file, whatever its time of change says.
        file = Path(str(settings.data_dir)) / "engine-keys.json"
        os.utime(file, (1, 1))
        other.connect_engines()
        assert key_of(other) == KEY["api_key"] and file.stat().st_mode & 0o077 == 0
        async with AsyncClient(settings) as later:
            assert key_of(later) == KEY["api_key"]
        client.connected_engines.remove("brave")
        client.connect_engines()
        assert key_of(client) == "configured-key" and "entered" not in file.read_text()


async def test_what_another_process_has_entered_since_is_kept(settings: Settings) -> None:
    async with AsyncClient(settings) as client, AsyncClient(settings) as other:
        client.connected_engines.add("brave", KEY)
        other.connected_engines.add("kagi", KEY)
        assert other.connected_engines.names() == {"brave", "kagi"}
        client.connected_engines.remove("brave")
        assert client.connected_engines.names() == {"kagi"}


async def test_an_engine_without_a_key_is_ready_once_it_has_what_it_needs(tmp_path: Path) -> None:
    async with AsyncClient(Settings(data_dir=tmp_path)) as client:
        assert not client.engines.ready("google_cse")
        client.connected_engines.add("google_cse", {"api_key": "a-key", "options": {"cx": ""}})
        client.connect_engines()
        assert not client.engines.ready("google_cse"), "its search engine is missing"
        client.connected_engines.add("google_cse", {"api_key": "a-key", "options": {"cx": "mine"}})
        client.connect_engines()
        assert client.engines.ready("google_cse")


async def test_an_engine_whose_key_was_entered_is_part_of_auto_at_once() -> None:
    async with serve(lambda _: reply(pages.ddg())) as site, client({"ddg_html": site.url}) as own:
        assert "brave" not in {attempt.engine for attempt in (await own.search("first")).attempts}
        own.connected_engines.add("brave", {**KEY, "base_url": "http://127.0.0.1:9"})
        own.connect_engines()
        assert "brave" in {attempt.engine for attempt in (await own.search("second")).attempts}


async def test_a_file_that_cannot_be_read_is_no_key(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "engine-keys.json").write_text("{not json")
    async with AsyncClient(Settings(data_dir=tmp_path)) as client:
        assert not client.engines.ready("brave") and "was set aside" in caplog.text
