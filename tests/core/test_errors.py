"""The error tree, and the one value that every failure is."""

from __future__ import annotations

import base64
import html
import json
import pickle
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from suyuan.core import errors
from suyuan.core.causes import causes_by_area
from suyuan.core.causes.engine import ALL_FAILED, CAPTCHA, CIRCUIT_OPEN, KEY_REJECTED
from suyuan.core.causes.network import GUARD_REFUSED
from suyuan.core.errors import SuyuanError, Timeout, WebBlocked
from suyuan.core.failure import Failure, Failures
from suyuan.core.secret import MASK, Secret, redact
from suyuan.messages.catalog import Text

CODES = {
    "InvalidInput", "WebProviderError", "ToolNotFound", "Timeout", "WebBlocked", "WebParseError", "NetworkError", "AuthError", "BadGateway",
}  # fmt: skip


def tree(kind: type[SuyuanError]) -> set[type[SuyuanError]]:
    return {kind}.union(*(tree(child) for child in kind.__subclasses__()))


@pytest.mark.req("T7.1")
def test_the_codes_are_exactly_the_published_ones() -> None:
    published = {kind.code for kind in tree(SuyuanError) if kind.__module__ == errors.__name__} - {"SuyuanError"}
    assert published == CODES


@pytest.mark.req("T7.2")
def test_blocked_carries_its_detail() -> None:
    causes = [cause for named in causes_by_area().values() for cause in named.values()]
    details = {cause.detail_code for cause in causes if cause.kind is errors.WebBlocked}
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


AWKWARD = 'k/9+"q\\&<é> %zz'


@pytest.mark.req("P9.3")
@pytest.mark.parametrize(
    "encode",
    [str, json.dumps, lambda key: json.dumps({"a": json.dumps({"b": key})}), lambda key: json.dumps(key, ensure_ascii=False),
     lambda key: json.dumps(key).replace("/", "\\/"), html.escape, quote, quote_plus, lambda key: quote(key, safe=""),
     lambda key: quote(key, safe="").lower(), lambda key: quote(quote(key, safe=""), safe=""), repr,
     *(lambda key, user=user: base64.b64encode(f"{user}:{key}".encode()).decode() for user in ("", "a", "ab", "abc")),
     lambda key: base64.urlsafe_b64encode(f"me:{key}:x".encode()).decode()],
)  # fmt: skip
def test_a_secret_is_found_however_it_is_encoded(encode: Callable[[str], str]) -> None:
    for value in ("sk-0123456789abcdef", AWKWARD, "correct horse battery"):
        secret = Secret(value)
        text = f"before {encode(value)} after"
        told = redact(text)
        assert told.startswith("before ") and told.endswith(" after") and MASK in told
        # What is left of base64 is the user name and a letter or two beside it.
        assert len(told) < len(f"before {encode('')} after") + 10, told
        assert value not in told and secret


@pytest.mark.req("P9.3")
def test_of_a_secret_that_begins_with_another_nothing_is_left() -> None:
    known = [Secret("sk-0123456789"), Secret("sk-0123456789abcdef")]
    assert redact("said: sk-0123456789abcdef", known) == redact("said: sk-0123456789abcdef") == "said: ***"
    for encoded in (b"me:sk-0123456789abcdef", b"a:sk-0123456789abcdef"):
        assert "YWJjZGVm" not in redact(base64.b64encode(encoded).decode())


@pytest.mark.req("P9.3")
def test_the_password_in_an_address_or_a_header_is_a_secret_and_the_rest_is_not() -> None:
    secrets = [
        Secret("http://me:p%40ssword1@proxy.example:3128"),
        Secret("Basic " + base64.b64encode(b"u:pass-phrase").decode()),
    ]
    assert (
        redact("407 for p@ssword1 and p%40ssword1 at proxy.example:3128") == "407 for *** and *** at proxy.example:3128"
    )
    assert redact(f"header {base64.b64encode(b'me:p@ssword1').decode()}") == "header ***"
    assert redact("user u, pass-phrase") == "user u, ***" and all(secrets)
    address = Secret("http://127.0.0.1:3128")
    assert redact("no answer from http://127.0.0.1:3128") == "no answer from http://127.0.0.1:3128" and address


@pytest.mark.req("P9.3")
def test_every_failure_is_made_without_secrets() -> None:
    secret = Secret("held-by-this-test-alone")
    why = Text("network.reason.leads_to", {"ip": secret.reveal(), "reason": Text("network.reason.private")})
    told = GUARD_REFUSED(where=f"x?key={secret.reveal()}", why=why)
    assert secret.reveal() not in json.dumps(told.as_dict()) and MASK in told.message
    plain = SuyuanError(f"said: {secret.reveal()}", hint=secret.reveal())
    assert (plain.message, plain.failure.hint()) == ("said: ***", "***")
    value, secret = secret.reveal(), Secret("")
    assert redact(value) == value, "what nobody holds any more is not remembered"


# --- failures
PAUSED = CIRCUIT_OPEN(engine="ddg_html", seconds=12.4, why="http_403", retry_after=12.4)
COMPOSED = ALL_FAILED(causes=Failures((PAUSED.failure, CAPTCHA(engine="google").failure)), retry_after=12.4)
NESTED = GUARD_REFUSED(
    where="h", why=Text("network.reason.leads_to", {"ip": "10.0.0.1", "reason": Text("network.reason.private")})
)


def test_an_error_shows_its_failure() -> None:
    assert (PAUSED.code, PAUSED.detail_code, PAUSED.retryable, PAUSED.retry_after) == (
        "WebBlocked", "circuit_open", True, 12.4,
    )  # fmt: skip
    assert "ddg_html" in PAUSED.message and "12 s" in PAUSED.message and str(PAUSED) == PAUSED.message
    assert "还需等待 12 秒" in PAUSED.say("zh")[0] and PAUSED.say("xx") == PAUSED.say("en")


def test_the_engine_can_be_named_later() -> None:
    error = CAPTCHA()
    error.engine = "late"
    assert error.failure.engine == "late" and error.message.startswith("late asks")


def test_a_failure_of_several_is_told_in_one_language() -> None:
    message, hint = COMPOSED.say("zh")
    assert message.startswith("没有引擎能够响应。ddg_html 之前出错") and "google 要求验证码" in message
    assert hint == CAPTCHA(engine="google").say("zh")[1]
    assert (
        COMPOSED.message.startswith("No engine could answer. ddg_html is paused")
        and "a person must act" in COMPOSED.message
    )
    assert NESTED.say("zh")[0] == "未访问 h：它指向 10.0.0.1，即私有地址。只允许访问公网地址。"


@pytest.mark.parametrize("error", [PAUSED, COMPOSED, NESTED, SuyuanError("own words", hint="do", detail_code="x")])
def test_a_failure_survives_json_and_pickle_in_every_language(error: SuyuanError) -> None:
    data = json.loads(json.dumps(error.failure.as_dict("zh")))
    assert {"code", "detail_code", "key", "params", "retryable", "retry_after", "message", "hint"} <= data.keys()
    again = Failure.from_dict(data)
    assert again == error.failure and again.say("en") == error.say("en") and again.say("zh") == error.say("zh")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error) and copy.failure == error.failure and str(copy) == str(error)


@pytest.mark.parametrize("change", [{"key": "engine.gone"}, {"params": {}}, {"key": None}])
def test_a_stored_failure_without_its_texts_shows_the_stored_message(change: dict[str, object]) -> None:
    again = Failure.from_dict({**PAUSED.failure.as_dict("zh"), **change})
    assert again.say("en") == again.say("zh") == PAUSED.say("zh")
    assert (again.code, again.detail_code, again.retry_after) == ("WebBlocked", "circuit_open", 12.4)


@pytest.mark.req("P9.3")
def test_secrets_are_taken_out_of_every_parameter() -> None:
    key = Secret("hunter2-hunter2")
    inner = KEY_REJECTED(engine="e", said="bad hunter2-hunter2").failure
    why = Text("network.reason.is", {"reason": "hunter2-hunter2"})
    for error in (ALL_FAILED(causes=Failures((inner,))), GUARD_REFUSED(where="hunter2-hunter2", why=why)):
        error.__cause__ = ValueError("hunter2-hunter2")
        clean = error.redacted([key])
        shown = f"{clean!r} {clean} {clean.as_dict('zh')} {clean.failure.as_dict()} {clean.args} {clean.__cause__}"
        assert "hunter2" not in shown and "***" in shown


def test_foreign_objects_are_not_kept() -> None:
    error = KEY_REJECTED(engine="e", said=ValueError("odd"))
    assert error.failure.params == {"said": "odd"} and "odd" in error.message


def test_an_error_can_be_raised_with_its_own_words() -> None:
    error = WebBlocked("closed today", hint="come back", detail_code="holiday", engine="e", retry_after=3)
    assert error.say("zh") == ("closed today", "come back") and error.retryable and error.retry_after == 3
    assert error.as_dict() == {
        "code": "WebBlocked", "detail_code": "holiday", "message": "closed today", "hint": "come back", "retryable": True,
        "retry_after": 3,
    }  # fmt: skip
    assert Timeout("x").retryable and not Timeout("x", retryable=False).retryable


def test_the_code_of_a_class_is_its_name_unless_it_says_otherwise() -> None:
    class Named(WebBlocked):
        code = "WebBlocked"

    assert (Named.code, WebBlocked.code, Timeout.code) == ("WebBlocked", "WebBlocked", "Timeout")
