"""The causes of failures, and what their texts say."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import pytest

from suyuan.core import causes
from suyuan.core.cause import Cause
from suyuan.core.causes.chat import WITHOUT_SEARCH
from suyuan.core.causes.network import OFFLINE
from suyuan.core.errors import Timeout
from suyuan.messages.catalog import languages

# They end nothing: an engine is late, busy, slow or must wait for its turn.
_NO_END = {"PAGE_LATE", "LATE", "OWN_RATE_LIMIT", "SEARXNG_BUSY", "SEARXNG_SLOW"}
PARAMS: dict[str, Any] = {
    "engine": "searxng", "seconds": 5.0, "where": "http://localhost:8080", "waited": "x", "rate": 10.0, "limit": 5.0, "turn": 4.0,
    "what": "x", "why": "x", "said": "x", "variable": "X", "setting": "x", "name": "x", "value": "x", "which": "x",
}  # fmt: skip


def every_cause() -> Iterator[tuple[str, Cause]]:
    for module in pkgutil.iter_modules(causes.__path__, f"{causes.__name__}."):
        for name, value in vars(import_module(module.name)).items():
            if isinstance(value, Cause):
                yield name, value


@pytest.mark.req("C2.3")
def test_a_timeout_is_called_one_in_chinese() -> None:
    timeouts = [(name, cause) for name, cause in every_cause() if issubclass(cause.kind, Timeout)]
    assert len(timeouts) >= 8
    for name, cause in timeouts:
        if name not in _NO_END:
            assert "超时" in cause.failure(**PARAMS).message("zh"), name


@pytest.mark.req("C7.3")
@pytest.mark.parametrize(
    ("lang", "said", "advised"),
    [
        ("zh", ("没有网络连接",), ("检查网络", "关闭联网搜索")),
        ("en", ("No connection",), ("Check the network", "turn off web search")),
    ],
)
def test_without_a_network_both_ways_out_are_advised(lang: str, said: Sequence[str], advised: Sequence[str]) -> None:
    message, hint = WITHOUT_SEARCH.failure(cause=OFFLINE.failure(names="a, b")).say(lang)
    assert all(words in message for words in said) and all(words in hint for words in advised), (message, hint)


@pytest.mark.req("C2.3", "C2.4", "C7.3")
@pytest.mark.parametrize("lang", languages())
def test_what_follows_a_hint_begins_a_sentence(lang: str) -> None:
    """Many hints end with a command, after which the next sentence must not run on."""
    searches = [
        (name, cause) for name, cause in every_cause() if cause.key.startswith(("engine.", "searxng.", "network."))
    ]
    assert len(searches) > 50
    for name, cause in searches:
        try:
            inner = cause.failure(**PARAMS)
            _, hint = inner.say(lang)
        except KeyError:
            continue
        told = WITHOUT_SEARCH.failure(cause=inner).hint(lang)
        assert told.startswith(hint)
        rest = told.removeprefix(hint)
        assert hint.endswith((".", "!", "?", "。", "！", "？", "…")) or rest.startswith((".", "。")), (name, told)
