"""Call the search tool over MCP with the SDK's own client (needs suyuan[mcp])."""

from __future__ import annotations

import asyncio
import sys

from mcp import Client, StdioServerParameters, stdio_client


async def main(question: str, engines: str) -> None:
    """Start ``suyuan mcp``, search, and print what a model would read."""
    server = StdioServerParameters(command=sys.executable, args=["-m", "suyuan", "mcp", "--engine", engines])
    async with Client(stdio_client(server)) as client:
        result = await client.call_tool("web_search", {"query": question, "count": 3})
        for block in result.content:
            print(getattr(block, "text", ""))


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[2:]) or "what is a receipt", sys.argv[1] if len(sys.argv) > 1 else "stub"))
