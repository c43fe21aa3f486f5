"""The error tree and the catalogue of causes."""

from __future__ import annotations

import pickle
import re

import pytest

from suyuan.core import errors
from suyuan.core.causes import catalogues
from suyuan.core.causes.engine import CAPTCHA
from suyuan.core.errors import SuyuanError
from suyuan.core.secret import Secret, redact

CODES = {
    "InvalidInput", "WebProviderError", "ToolNotFound", "Timeout", "WebBlocked", "WebParseError", "NetworkError", "AuthError", "BadGateway",
}  # fmt: skip


def tree(kind: type[SuyuanError]) -> set[type[SuyuanError]]:
    return {kind}.union(*(tree(child) for child in kind.__subclasses__()))


@pytest.mark.req("T7.1")
def test_the_codes_are_exactly_the_published_ones() -> None:
    published = {kind.code for kind in tree(SuyuanError) if kind.__module__ == errors.__name__} - {"SuyuanError"}
    assert published == CODES


CAUSES = {f"{catalogue}.{name}": cause for catalogue, named in catalogues().items() for name, cause in named.items()}


@pytest.mark.parametrize("name", CAUSES)
def test_every_cause_has_a_message_and_a_cure_in_both_languages(name: str) -> None:
    cause = CAUSES[name]
    texts = (cause.en, cause.zh, cause.hint_en, cause.hint_zh)
    assert all(texts) and cause.kind.code and cause.detail_code
    blanks = [set(re.findall(r"\{(\w+)", text)) for text in texts]
    # What one language tells, the other tells too.
    same = [{re.sub("_(en|zh)$", "", blank) for blank in found} for found in blanks]
    assert same[0] == same[1] and same[2] == same[3]
    said = cause(**dict.fromkeys(set().union(*blanks), 1))  # type: ignore[arg-type]
    assert not re.search(r"\{\w+\}", "".join(said.say("en") + said.say("zh")))
    own = "".join(text for text in texts[1::2] if not re.fullmatch(r"\{\w+\}", text))
    assert re.search(r"[\u4e00-\u9fff]", own) and not re.search(r"[，；：（）]", own)


@pytest.mark.req("T7.2")
def test_blocked_carries_its_detail() -> None:
    details = {cause.detail_code for cause in CAUSES.values() if cause.kind is errors.WebBlocked}
    assert {"captcha_required", "http_403", "http_429"} <= details


@pytest.mark.req("G3.2")
def test_a_captcha_says_that_a_person_must_act() -> None:
    error = CAPTCHA(engine="google")
    assert "a person must act" in error.message and "人工" in error.say("zh")[0]


@pytest.mark.req("P9.3")
def test_a_secret_shows_itself_nowhere() -> None:
    secret = Secret("hunter2-hunter2")
    for text in (repr(secret), str(secret), f"{secret}", f"{secret!r}", repr({"k": [secret]})):
        assert "hunter2" not in text
    assert b"hunter2" not in pickle.dumps(secret)
    assert redact("token=hunter2-hunter2;", [secret]) == "token=***;"
    assert secret.reveal() == "hunter2-hunter2" and secret == Secret("hunter2-hunter2") and not Secret("")
