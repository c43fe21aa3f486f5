"""A data folder that the product has filled, in this process."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pages.test_archive import doc
from suyuan.client import AsyncClient
from suyuan.config.load import load_settings


def fill(label: str, *, conversations: int = 20) -> None:
    """Store something of each kind in the folders that the environment names; ``label`` is in all of it."""

    async def work() -> None:
        settings = load_settings()
        assert settings.data_dir is not None and settings.agents_file is not None
        async with AsyncClient(settings) as client:
            for number in range(conversations):
                client.chat.store.create(title=f"{label} {number}")
            assert client.archive is not None
            for number in range(5):
                await client.archive.put(doc(f"https://{label}.example/{number}", f"A page about {label}. " * 30))
            await client.library.upload(f"{label}.txt", f"A document about {label}, to be read by all. ".encode() * 5)
        settings.agents_file.parent.mkdir(parents=True, exist_ok=True)
        (settings.agents_file.parent / "config.json").write_text(f'{{"focus": "{label}"}}')
        (settings.data_dir / "models.json").write_text("[]")

    asyncio.run(work())


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, databases and all, on a machine on which nothing runs; nothing that is there in passing."""
    passing = (".lock", "-shm", "-wal")
    found = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith(passing))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
