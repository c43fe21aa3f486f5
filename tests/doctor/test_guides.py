"""The guides: in both languages, in the archive of a new installation, and the same in the documentation."""

from __future__ import annotations

import re
import runpy
import shlex
import threading
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from suyuan.chat.recall import Recall
from suyuan.cli.main import build_parser
from suyuan.client import AsyncClient
from suyuan.config.engine_settings import engine_settings
from suyuan.config.load import load_settings
from suyuan.config.settings import ServerSettings, Settings
from suyuan.core.causes import causes_by_area
from suyuan.core.causes.archive import ArchiveError
from suyuan.core.document import Document
from suyuan.core.errors import NetworkError
from suyuan.core.query import SearchQuery
from suyuan.core.setting import declarations
from suyuan.guides.documents import LANGUAGES, SEARCHED, documents, guide
from suyuan.messages.catalog import Texts
from suyuan.pages.archive import Archive

ROOT = Path(__file__).parents[2]
NOWHERE = "http://127.0.0.1:9"
HERE = "http://127.0.0.1:8642"
GUIDES = [(name, lang) for name in ("searxng", "models") for lang in LANGUAGES]


@pytest.mark.req("C8.1", "C9.3")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_searxng_guide_covers_every_step(lang: str) -> None:
    text = guide("searxng", lang)
    for needed in (
        "docker compose up -d", "docker compose restart", "docker compose logs", "docker ps",
        "curl -i http://localhost:8080/healthz", "format=json", "SEARXNG_BASE_URL", "SEARXNG_REGION",
        "limiter: false", "- json", "suyuan searxng check", "403", "429", ".env",
    ):  # fmt: skip
        assert needed in text, needed


STEPS = {
    "zh": {
        "启动": ("suyuan searxng init", "suyuan searxng up", "docker compose up -d"),
        "验证": ("suyuan searxng status", "curl -i http://localhost:8080/healthz", "/search?q=test&format=json"),
        "配置说明": ("  formats:\n    - html\n    - json", "limiter: false", "`search.formats`"),
        "重启与配置生效": (
            "| settings.*.yml | `suyuan searxng restart`（即 `docker compose restart`）",
            "`suyuan searxng up`（即 `docker compose up -d`）；仅重启不会重新读取 .env",
        ),
        "验证是否恢复": ("docker ps --filter name=searxng", "/healthz", "suyuan searxng check", "15 秒"),
    },
    "en": {
        "Start": ("suyuan searxng init", "suyuan searxng up", "docker compose up -d"),
        "Verify": ("suyuan searxng status", "curl -i http://localhost:8080/healthz", "/search?q=test&format=json"),
        "Settings": ("  formats:\n    - html\n    - json", "limiter: false", "`search.formats`"),
        "Restart and apply changes": (
            "| settings.*.yml | `suyuan searxng restart` (same as `docker compose restart`)",
            "`suyuan searxng up` (same as `docker compose up -d`); a restart does not reload .env",
        ),
        "Verify that it works again": ("docker ps --filter name=searxng", "/healthz", "suyuan searxng check", "15 sec"),
    },
}


@pytest.mark.req("C8.1", "C9.3")
@pytest.mark.parametrize(("lang", "section"), [(lang, section) for lang in LANGUAGES for section in STEPS[lang]])
def test_each_section_of_the_searxng_guide_has_its_commands(lang: str, section: str) -> None:
    _, head, rest = guide("searxng", lang).partition(f"## {section}\n")
    text = rest.partition("\n## ")[0]
    assert head and [needed for needed in STEPS[lang][section] if needed not in text] == []


@pytest.mark.parametrize(("name", "lang"), [*GUIDES, ("troubleshooting", "zh"), ("troubleshooting", "en")])
def test_every_command_in_a_guide_exists(name: str, lang: str) -> None:
    text = guide(name, lang)
    for command in re.findall(r"^suyuan ([^#\n]+?)(?:\s+#.*)?$", text, re.M) + re.findall(r"`suyuan ([^`]+)`", text):
        build_parser(Texts("cli", lang)).parse_args(shlex.split(command))


@pytest.mark.parametrize(("name", "lang"), GUIDES)
def test_every_variable_in_a_guide_exists(name: str, lang: str) -> None:
    known = {one.env for one in (*declarations(Settings), *engine_settings("searxng"))}
    deployment = {"SEARXNG_SECRET", "SEARXNG_REGION", "SEARXNG_PORT", "SEARXNG_VERSION", "SEARXNG_THREADS"}
    for variable in set(re.findall(r"\b(?:SUYUAN|SEARXNG|WEB)_[A-Z_]+", guide(name, lang))):
        assert variable in known | deployment, variable


def test_an_unknown_guide_or_language() -> None:
    with pytest.raises(KeyError):
        guide("../pyproject", "en")
    assert guide("models", "fr") == guide("models", "en")


@pytest.mark.req("C8.1", "C9.1")
def test_the_documentation_is_the_same() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "docs.py"))["made_pages"]()
    assert {path.name for path in made} >= {"troubleshooting.md", "searxng.md", "searxng.en.md"}
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: run `make docs`"


@pytest.mark.req("C9.1", "T7.2")
def test_every_cause_is_in_the_troubleshooting_page() -> None:
    causes = [cause for causes in causes_by_area().values() for cause in causes.values()]
    page = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    assert len(causes) > 80 and all(f"/{cause.detail_code}`" in page for cause in causes)


ALL = [(name, lang) for name in SEARCHED for lang in LANGUAGES]


def kept(archive: Archive, server: str = HERE) -> list[tuple[str, str]]:
    """The guides in the archive; they are not pages that were read, so they are not listed."""
    assert len(archive) == 0 and archive.newest() == [] and list(archive.export()) == []
    return [(name, lang) for name, lang in ALL if archive.get(f"{server}/guide/{name}?lang={lang}")]


# --- in the archive --------------------------------------------------------------------------------------------
def offline(folder: Path) -> Settings:
    """Settings of a new installation whose engines are not reachable."""
    names = ("SEARXNG", "DDG", "BING", "BAIDU")
    environ = {f"{name}_BASE_URL": NOWHERE for name in names}
    return load_settings(
        {**environ, "HOME": str(folder), "SUYUAN_DATA_DIR": str(folder), "SUYUAN_STATE_DIR": str(folder)}, folder
    )


@pytest.mark.req("C6.4", "C8.1")
@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("如何部署 SearXNG?", "searxng?lang=zh"),
        ("SearXNG 返回 403 怎么办", "searxng?lang=zh"),
        ("how to deploy SearXNG", "searxng?lang=en"),
        ("SearXNG limiter 429", "searxng?lang="),
        ("如何连接模型 DeepSeek", "models?lang=zh"),
        ("connect Ollama model", "models?lang=en"),
    ],
)
async def test_without_a_network_the_guide_is_the_first_result_in_the_chat(
    tmp_path: Path, question: str, name: str
) -> None:
    async with AsyncClient(offline(tmp_path)) as client:
        query, failed = SearchQuery(question), NetworkError("offline")
        page = await Recall(lambda: client.archive).search(query, failed)
    assert page and page.engine == "guides"
    assert page.results[0].url.startswith(f"{HERE}/guide/{name}") and page.results[0].snippet


@pytest.mark.req("C6.4", "C9.1")
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("如何部署 SearXNG?", "先运行 suyuan searxng init 生成配置，再运行 suyuan searxng up 启动[1]"),
        ("怎么打开 SearXNG 的 JSON 格式?", "在 settings.yml 的 search: formats: 下加入 json"),
        ("SearXNG 返回 403 怎么办?", "通常是没有打开 JSON 格式[1]"),
        ("What to do when SearXNG answers 429?", "set server.limiter to false"),
        ("怎么连接自己的模型?", "设置 SUYUAN_MODEL（名称）和 SUYUAN_MODEL_BASE_URL（服务器地址）"),
        ("How do I use DeepSeek?", "set the name to deepseek-v4-flash and the address to https://api.deepseek.com"),
        ("如何使用 Ollama?", "先拉取模型，再设置名称和地址 http://localhost:11434/v1"),
    ],
)
async def test_without_a_network_the_guides_answer_with_a_citation(
    tmp_path: Path, question: str, expected: str
) -> None:
    async with AsyncClient(offline(tmp_path)) as client:
        run = await client.chat.ask((await client.chat.create(search=True)).id, question)
        answer = await run.wait()
    assert expected in answer.text and answer.sources[0].url.startswith(f"{HERE}/guide/") and not answer.unverified


@pytest.mark.parametrize(
    "question", ["北京天气", "what is the capital of France", "best pizza in Naples", "量子计算的原理"]
)
async def test_a_guide_is_no_result_for_other_questions(tmp_path: Path, question: str) -> None:
    async with AsyncClient(offline(tmp_path)) as client:
        assert client.archive is not None
        assert [hit.document.title for hit in client.archive.open().search(question) if hit.coverage >= 0.5] == []


def test_guides_are_never_pruned_and_not_written_twice(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.sqlite", max_bytes=10, max_days=1)
    assert archive.pin(documents(HERE, "2020-01-01T00:00:00+00:00")) is True
    archive.put(
        Document("https://a.example/", "https://a.example/", "T", "x" * 100, "text/html", "2020-01-01T00:00:00+00:00")
    )
    assert archive.get("https://a.example/") is None and kept(archive) == ALL
    assert archive.prune(datetime(2026, 11, 16, tzinfo=UTC)) == 0 and kept(archive) == ALL
    assert archive.pin(documents(HERE, "2026-01-01T00:00:00+00:00")) is False
    assert archive.check() == "ok"
    archive.close()


def test_a_new_text_or_address_replaces_the_old(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.sqlite")
    old = [
        Document(
            f"{HERE}/guide/searxng?lang=en",
            f"{HERE}/guide/searxng?lang=en",
            "Old",
            "ancient words",
            "text/markdown",
            "2020-01-01",
        )
    ]
    archive.pin(old)
    archive.pin(documents(HERE, "2026-01-01"))
    assert archive.search("ancient words") == [] and kept(archive) == ALL
    archive.pin(documents("http://127.0.0.1:9999", "2026-01-01"))
    assert kept(archive) == [] and kept(archive, "http://127.0.0.1:9999") == ALL
    found = archive.get("http://127.0.0.1:9999/guide/searxng?lang=zh")
    assert found is not None and found.title == "如何部署 SearXNG"
    archive.close()


def test_a_page_read_before_it_was_pinned_is_no_failure(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.sqlite")
    for document in documents(HERE, "2020-01-01"):
        archive.put(document)
    assert archive.pin(documents(HERE, "2026-01-01")) is True and kept(archive) == ALL
    archive.close()


def test_several_threads_at_once(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def start() -> None:
        try:
            while not pinned():
                pass
        except Exception as error:  # noqa: BLE001 - the test must show every exception
            failures.append(error)

    def pinned() -> bool:
        try:
            with closing(Archive(tmp_path / "a.sqlite")) as archive:
                archive.pin(documents(HERE, "2026-01-01"))
        except ArchiveError as error:
            # On a busy machine the others may take longer than a reader waits; the next read tries again.
            assert error.detail_code == "archive_locked" and error.retryable
            return False
        return True

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    archive = Archive(tmp_path / "a.sqlite")
    assert failures == [] and kept(archive) == ALL
    archive.close()


def test_the_check_at_the_start_is_cheap(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.sqlite")
    archive.pin(documents(HERE, "2026-01-01"))
    times = []
    for _ in range(20):
        started = time.perf_counter()
        archive.pin(documents(HERE, "2026-01-01"))
        times.append(time.perf_counter() - started)
    assert min(times) < 0.02
    archive.close()


def test_the_address_follows_the_server() -> None:
    urls = [document.url for document in documents(ServerSettings(port=7000).url, "2026-01-01")]
    assert "http://127.0.0.1:7000/guide/searxng?lang=zh" in urls
