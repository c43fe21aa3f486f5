"""A worker whose web is the demo web of the test that starts it: ``research_worker.py SETTINGS PORT``."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from suyuan.client import AsyncClient
from suyuan.config.settings import SearchSettings, ServerSettings, Settings
from suyuan.core.engine import EngineSettings
from suyuan.core.secret import Secret
from suyuan.demo.engine import ENGINES, Demo
from suyuan.demo.network import DemoNetwork
from suyuan.demo.site import SEARCH_HOST, DemoSite
from suyuan.llm.settings import ModelSettings
from suyuan.research.settings import ResearchSettings
from suyuan.server.app import create_app
from suyuan.server.listen import make_server
from suyuan.server.sockets import listen


def _tell() -> None:
    os.write(1, b"Ctrl-C\n")


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    origin = replace(ServerSettings(), port=int(sys.argv[2]), users=given.get("users", False))
    settings = Settings(
        search=SearchSettings(default=Demo.name),
        engines={Demo.name: EngineSettings(base_url=f"http://{SEARCH_HOST}:{given['web']}")},
        server=origin,
        model=ModelSettings("openai", "test-model", given["model"], context_tokens=8000),
        research=ResearchSettings(jobs=2),
        store_url=Secret(given["store"]),
        redis_url=Secret(given["redis"]),
        data_dir=Path(given["folder"]),
    )
    network = DemoNetwork(DemoSite().hosts, frozenset({SEARCH_HOST}), given["web"])
    app = create_app(AsyncClient(settings, network=network, engines=ENGINES), origin=origin)
    make_server(app, _tell).run([listen("127.0.0.1", origin.port)])
