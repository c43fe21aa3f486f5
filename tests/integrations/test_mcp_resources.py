"""The pages that an MCP client has read are its resources; starting the server loads little of the SDK."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.site import reply, serve

pytest.importorskip("mcp", reason="the optional extra suyuan[mcp] is not installed")

from mcp import Client
from mcp.shared.exceptions import MCPError

from suyuan.config.settings import PageSettings, Settings
from suyuan.integrations.mcp import make_server

PAGE = "<html><head><title>Tea</title></head><body><article><p>Green tea is made of leaves that were not oxidised.</p></article>"


async def test_a_page_that_was_read_is_a_resource() -> None:
    settings = Settings(pages=PageSettings(allow_networks=("127.0.0.0/8",)))
    async with serve(lambda _: reply(PAGE)) as site, Client(make_server(settings, engines="stub")) as client:
        url = f"{site.url}/tea"
        assert (await client.list_resources()).resources == []
        with pytest.raises(MCPError, match="web_fetch"):
            await client.read_resource(url)
        await client.call_tool("web_fetch", {"url": url})
        (resource,) = (await client.list_resources()).resources
        assert (resource.uri, resource.title, resource.mime_type) == (url, "Tea", "text/markdown")
        (content,) = (await client.read_resource(url)).contents
        assert "not oxidised" in getattr(content, "text", "")


def test_the_server_does_not_load_the_client_of_the_sdk() -> None:
    code = (
        "import sys; from suyuan.cli.main import main; main(['mcp']);"
        "print(' '.join(sys.modules)); from mcp import ClientSession; import mcp.server; print(mcp.server.MCPServer)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60, stdin=subprocess.DEVNULL
    )
    loaded, made = done.stdout.strip().splitlines()[-2:]
    assert not {"mcp.client", "mcp.server.mcpserver", "httpx2"} & set(loaded.split())
    # What is asked of the packages afterwards is there all the same.
    assert "MCPServer" in made
