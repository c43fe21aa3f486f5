"""Write the parts of the documentation that are made from the code; the tests check that they are up to date."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from typing import Any

from suyuan.config.engine_settings import engine_options
from suyuan.config.schema import agents_schema, config_schema
from suyuan.config.settings import Settings
from suyuan.core.causes import causes_by_area
from suyuan.core.engine import Engine, EngineSettings
from suyuan.core.setting import Setting, declarations
from suyuan.engines.engine_info import EngineInfo
from suyuan.engines.registry import BUILT_IN, load
from suyuan.messages.catalog import catalogue
from suyuan.search.focus import FOCUSES, Focus

DOCS = Path(__file__).parents[1] / "docs"
GUIDES = Path(__file__).parents[1] / "src" / "suyuan" / "guides"
BEGIN, END = "<!-- settings: made by `make docs` -->", "<!-- end of settings -->"


CATALOGUE = Path(__file__).parents[1] / "src" / "suyuan" / "engines" / "catalogue.py"


def main() -> None:
    """Write the schemas, the table of settings, and the pages made from the guides and the causes."""
    folder = DOCS / "schema"
    folder.mkdir(exist_ok=True)
    for name, schema in (("config", config_schema()), ("agents", agents_schema())):
        (folder / f"{name}.schema.json").write_text(
            json.dumps(schema, ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
        )
    guide = DOCS / "configuration.md"
    text = guide.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    guide.write_text(f"{before}{BEGIN}\n{settings_table()}\n{END}{after}", encoding="utf-8")
    CATALOGUE.write_text(engine_catalogue(), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", str(CATALOGUE)], check=True)
    for path, text in made_pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def made_pages() -> dict[Path, str]:
    """The pages that are made as a whole, by their path."""
    zh, en = troubleshooting("zh"), troubleshooting("en")
    return {
        GUIDES / "troubleshooting.zh.md": zh,
        GUIDES / "troubleshooting.en.md": en,
        DOCS / "troubleshooting.md": f"{en}\n---\n\n{zh}",
        DOCS / "engines.md": engines_page(),
        DOCS / "deploy" / "searxng.md": (GUIDES / "searxng.zh.md").read_text(encoding="utf-8"),
        DOCS / "deploy" / "searxng.en.md": (GUIDES / "searxng.en.md").read_text(encoding="utf-8"),
    }


_GROUPS = (
    ("Your own instance", ("searxng",)),
    ("Result pages, without a key", (
        "ddg_html", "ddg_news", "ddg_images", "bing_html", "bing_news", "bing_images", "baidu_html", "brave_html", "yahoo", "mojeek", "startpage", "ecosia", "so360", "sogou",
        "google",
    )),
    ("APIs without a key", (
        "wikipedia", "wikidata", "openalex", "crossref", "arxiv", "pubmed", "semantic_scholar", "stackexchange",
        "github", "hackernews", "gdelt", "openlibrary", "marginalia",
    )),
    ("APIs with a key", (
        "brave", "bocha", "tavily", "exa", "serper", "firecrawl", "jina", "kagi", "google_cse", "serpapi",
    )),
    ("Without a network", ("stub",)),
)  # fmt: skip


def engines_page() -> str:
    """All engines, with what they need and what they honour."""
    lines = [
        "# Engines", "",
        "Name engines in a plan (`suyuan search --engine wikipedia,ddg_html`) or in `config.json`. The settings of an engine are below",
        "`web.providers.NAME` ([Configuration](configuration.md)). *honours* lists the parameters of a query that the engine itself",
        "applies; what it cannot honour is in the receipt. Suyuan filters domains for every engine. *limit* is in requests a minute;",
        "`ratePerMinute` changes it.", "",
    ]  # fmt: skip
    for title, names in _GROUPS:
        lines += [f"## {title}", "", "| engine | | needs | honours | limit |", "|---|---|---|---|---|"]
        lines += [_engine_row(name) for name in names]
        lines.append("")
    lines += [
        "## Focus", "",
        "Instead of engines, a search can name the kind of source that it wants: `--focus academic` on the command line, `focus`",
        "in Python, `/api/search` and the tools for agents. Engines whose key is missing are left out. A plan that names engines,",
        "and parameters of the query itself, override the focus.", "",
        "| focus | engines | besides |", "|---|---|---|",
    ]  # fmt: skip
    lines += [_focus_row(name, focus) for name, focus in FOCUSES.items()]
    lines += [
        "", "`+` merges the results of all, `,` asks the next one when one fails. Define your own in `config.json`:", "",
        "```json", _OWN_FOCUS, "```", "",
    ]  # fmt: skip
    return "\n".join([*lines, "[Write an engine](howto/write-an-engine.md) shows how to add one.", ""])


_OWN_FOCUS = """{
  "tools": {
    "webSearch": {
      "focus": {
        "python": {"engines": "ddg_html+stackexchange", "domains": ["python.org", "stackoverflow.com"], "freshness": "year"}
      }
    }
  }
}"""


def _focus_row(name: str, focus: Focus) -> str:
    age = f"the last {focus.freshness}" if focus.freshness else ""
    engines = f"`{focus.engines}`" if focus.engines else "the default plan"
    return f"| `{name}` | {engines} | {', '.join(filter(None, (age, focus.lang))) or '–'} |"


def _engine_row(name: str) -> str:
    engine: Any = load(name)
    about = (getdoc(import_module(engine.__module__)) or "").splitlines()[0]
    needs = [f"`{engine.api_key_env}`"] if engine.api_key_env else []
    needs += ["Chrome or Chromium"] if engine.needs_browser else []
    honours = ", ".join(sorted(engine.supported_params, key=_PARAMS.index))
    return f"| `{name}` | {about} | {', '.join(needs) or '–'} | {honours or '–'} | {engine.rate_per_minute or '–'} |"


_PARAMS = ("lang", "country", "freshness", "allowed_domains", "blocked_domains", "need_summary", "page", "safe")
_TITLES = {
    "asked": ("Input", "输入"),
    "engine": ("Search engines", "搜索引擎"),
    "searxng": ("SearXNG", "SearXNG"),
    "network": ("Network", "网络"),
    "page": ("Reading pages", "阅读网页"),
    "browser": ("Browser", "浏览器"),
    "model": ("Models", "模型"),
    "chat": ("Conversations", "对话"),
    "research": ("Research", "研究"),
    "archive": ("Archive", "归档"),
    "library": ("Own documents", "自己的文档"),
    "store": ("Stored conversations", "会话存储"),
    "backup": ("Backup and restore", "备份与恢复"),
    "files": ("Files of keys and models", "密钥与模型文件"),
    "web": ("Page and API", "页面与接口"),
    "people": ("Accounts", "账号"),
    "live": ("Several workers", "多个工作进程"),
    "doctor": ("What `suyuan doctor` finds", "`suyuan doctor` 的检查结果"),
}


def troubleshooting(lang: str) -> str:
    """All failures, as a guide in one language."""
    zh = lang == "zh"
    about = (
        "每个错误都有代码、原因和解决办法。`suyuan doctor` 会检查全部并指出问题所在。花括号中的内容会替换为实际的值。"
        if zh
        else "Every failure has a code, a cause and a solution. `suyuan doctor` checks everything and reports what is wrong. "
        "Names in braces are replaced by the actual values."
    )
    head = "| 代码 | 原因 | 解决办法 |" if zh else "| code | cause | solution |"
    lines = ["# 故障排查" if zh else "# Troubleshooting", "", about, ""]
    known, texts = causes_by_area(), catalogue(lang)
    for name, titles in _TITLES.items():
        lines += [f"## {titles[zh]}", "", head, "|---|---|---|"]
        rows = sorted(known[name].values(), key=lambda cause: cause.detail_code)
        lines += [
            f"| `{c.kind.code}/{c.detail_code}` | {_cell(texts[f'{c.key}.message'])} | {_cell(texts[f'{c.key}.hint'])} |"
            for c in rows
        ]
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    """A cause's text in a table: its blanks without their formats, no line breaks, no bars, no autolinks."""
    # Of a word that depends on a number, the form for several.
    several = re.sub(r"\{\w+:[^{}|]*\|((?:[^{}]|\{[^{}]*\})*)\}", r"\1", text)
    plain = re.sub(r"\{(\w+)[^}]*\}", r"{\1}", several).replace("|", "\\|").replace("<", "&lt;")
    return " ".join(plain.split())


def settings_table() -> str:
    """Every setting as a Markdown table."""
    engines = [one.under("web.providers.NAME.", "NAME_") for one in declarations(EngineSettings)]
    options = [one for name in BUILT_IN for one in engine_options(name)]
    rows = ["| setting | variable | default | meaning |", "|---|---|---|---|"]
    rows += [_row(one) for one in (*declarations(Settings), *engines, *options)]
    return "\n".join(rows)


def _row(one: Setting) -> str:
    unit = " (ms)" if one.env_scale == 0.001 else ""
    return f"| `{one.path}` | `{one.env}`{unit} | {one.show(one.default)} | {one.description} |"


def engine_catalogue() -> str:
    """The module that says of each built-in engine what must be known before its code is imported."""
    infos = sorted(_engines_in_files(), key=_place)
    lines = [f"    {_call(info)}," for info in infos]
    head = '"""The built-in engines as their classes describe themselves; made by `make docs`."""'
    return "\n".join(
        [head, "", "from __future__ import annotations", "", "from .engine_info import EngineInfo", "", "ENGINES = (",
         *lines, ")", ""]
    )  # fmt: skip


def _engines_in_files() -> Iterator[EngineInfo]:
    for file in sorted(CATALOGUE.parent.glob("*.py")):
        module = import_module(f"suyuan.engines.{file.stem}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Engine) and getattr(value, "name", "") == file.stem:
                yield EngineInfo.of(file.stem, value)


def _place(info: EngineInfo) -> tuple[float, bool, str]:
    """Those that ``auto`` asks come first, in their order; those that people are not offered come last."""
    rank = math.inf if info.auto_rank is None else info.auto_rank
    return (rank, info.hidden, info.name)


def _call(info: EngineInfo) -> str:
    """The expression that makes ``info``: only what is not as usual is named."""
    usual = EngineInfo(info.name, info.class_name)
    named = [
        f"{field.name}={_literal(getattr(info, field.name))}"
        for field in fields(info)
        if getattr(info, field.name) != getattr(usual, field.name)
    ]
    return f"EngineInfo({', '.join([_literal(info.name), _literal(info.class_name), *named])})"


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, tuple):
        parts = ", ".join(map(_literal, value))
        return f"({parts},)" if len(value) == 1 else f"({parts})"
    return repr(value)


if __name__ == "__main__":
    main()
