"""The message catalogues: complete in every language, equal in their placeholders, and used."""

from __future__ import annotations

import ast
import json
import re
import string
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from suyuan.core.cause import Cause
from suyuan.core.causes import causes_by_area
from suyuan.core.failure import Failure
from suyuan.guides import documents
from suyuan.messages import catalog
from suyuan.messages.catalog import DEFAULT, Text, Texts, catalogue, language, languages, subtree, text

SRC = Path(catalog.__file__).parents[1]
HAN = re.compile("[\u4e00-\u9fff]")
CAUSES = {name: cause for named in causes_by_area().values() for name, cause in named.items()}
OTHERS = [lang for lang in languages() if lang != DEFAULT]
# Keys that are put together from parts when they are used.
COMPOSED = re.compile(
    r"cli\.(area|outcome|state)\.\w+|cli\.(archive\.(number|read_at|size|page)|engine\.(name|key|state|address))|cli\.help\.searxng_(up|down|restart|logs)"
    r"|page\.(example\.\d|export\.(md|html|json|bib|pdf)|engines\.field\.\w+|guide\.(searxng|models|troubleshooting)|login\.\w+)"
    r"|page\.(mode\.(chat|agent)\.(title|hint)|outcome\.\w+|theme\.(auto|light|dark))"
    r"|page\.(level\.(info|warning|error)|focus\.\w+|conversations\.(pinned|today|yesterday|week|earlier))"
    r"|page\.(mode\.research\.(title|hint)|research\.(depth|state|count)\.\w+)"
    r"|page\.(settings\.(keys\.\w+\.(keys|does)|state\.\w+|searxng\.\w+))"
    r"|claims\.(verdict|count)\.\w+"
    r"|cut\.\w+|research\.report\.(limit|clarify|verdict)\.\w+|fetch\.detail\.broken_\w+"
)


def placeholders(template: str) -> set[tuple[str, str, str]]:
    """Names with their formats; a word that is chosen by a number is none, but its forms may have some."""
    found: set[tuple[str, str, str]] = set()
    for _, name, spec, kind in string.Formatter().parse(template):
        if name is not None:
            found |= placeholders(spec) if spec and "|" in spec else {(name, spec or "", kind or "")}
    return found


def names(cause: Cause) -> set[str]:
    """The parameters that the texts of ``cause`` need."""
    parts = (catalogue(DEFAULT)[f"{cause.key}.{part}"] for part in ("message", "hint"))
    return {name.partition(".")[0] for part in parts for name, _, _ in placeholders(part)} - {"engine"}


def test_english_and_chinese_are_there_and_english_is_first() -> None:
    assert languages()[0] == "en" and "zh" in languages()


@pytest.mark.parametrize("lang", OTHERS)
def test_every_language_has_the_same_keys_and_placeholders(lang: str) -> None:
    english, other = catalogue(DEFAULT), catalogue(lang)
    assert list(other) == list(english)
    assert [key for key in english if placeholders(english[key]) != placeholders(other[key])] == []
    assert [key for key in english if bool(english[key].strip()) != bool(other[key].strip())] == []


@pytest.mark.parametrize("lang", languages())
def test_no_key_stands_twice_in_a_file(lang: str) -> None:
    def checked(pairs: list[tuple[str, object]]) -> dict[str, object]:
        assert len(dict(pairs)) == len(pairs), [name for name, _ in pairs]
        return dict(pairs)

    json.loads((SRC / "messages" / f"{lang}.json").read_text("utf-8"), object_pairs_hook=checked)


def test_chinese_texts_use_chinese_punctuation() -> None:
    # A connection string is shown as it must be typed.
    shown = {key: value.replace("用户:密码@", "") for key, value in catalogue("zh").items()}
    half = re.compile("[\u4e00-\u9fff][,;:?!()]|[,;:?!()][\u4e00-\u9fff]")
    assert [key for key, value in shown.items() if half.search(re.sub(r"\{\w+:", "", value))] == []


def test_a_word_fits_its_number() -> None:
    assert [text("en", "cli.outcome.ok", count=n) for n in (0, 1, 2)] == ["0 results", "1 result", "2 results"]
    assert [text("zh", "cli.outcome.ok", count=n) for n in (1, 2)] == ["1 条结果", "2 条结果"]
    assert text("en", "cli.archive.pruned", count=2, left=1) == "Removed 2 pages; 1 remains."
    assert "limit of 1 request per" in text("en", "engine.own_rate_limit.message", rate=1.0, seconds=2, engine="x")
    told = [text("en", "chat.search_limit.message", limit=limit, engine="") for limit in (1, 3)]
    assert told[0] == "The only search for this answer has been used."
    assert told[1] == "All 3 searches for this answer have been used."


def test_no_plural_stands_after_a_number_that_can_be_one() -> None:
    number = (
        "n|all|count|found|held|left|length|limit|origins|rate|read|rows|searches|seconds|sources|tables|total|used"
    )
    plural = re.compile(rf"\{{(?:{number}|conversations|results|workers)(?::[^}}|]*)?\}} (?:\w+ )?\w+[^s\W]s\b")
    chosen = re.compile(r"\{\w+:[^{}|]*\|(?:[^{}]|\{[^{}]*\})*\}")
    found = {key for key, value in catalogue("en").items() if plural.search(chosen.sub("", value))}
    never_one = {
        "input.query_too_long.message", "chat.message_too_long.message", "chat.answer_too_long.message",
        "chat.too_many_calls.message",
        "engine.too_large.message", "fetch.too_large.message", "server.body_too_large.message",
        "people.password_weak.hint", "server.token_weak.hint", "server.too_many_streams.message",
        "server.full.message", "server.too_many_crawls.message", "live.workers_need_store.message",
        "cli.fetch.cut", "page.script.deleted_n", "page.shares.days", "page.version.at",
    }  # fmt: skip
    assert found - never_one == set()


def test_no_word_of_english_is_out_of_use() -> None:
    old = re.compile(r"\b(cure|cures|mend|mends|rests?|resting|is well|tells?|whoever|nobody)\b", re.I)
    found = {key for key, value in catalogue("en").items() if old.search(value)}
    assert found == {"chat.suggestion"}, "“Tell me more” is what a person types"


@pytest.mark.parametrize("name", CAUSES)
def test_every_cause_has_texts_in_every_language(name: str) -> None:
    cause = CAUSES[name]
    assert cause.kind.code and cause.detail_code
    for lang in languages():
        assert catalogue(lang)[f"{cause.key}.message"] and catalogue(lang)[f"{cause.key}.hint"]
    chinese = catalogue("zh")[f"{cause.key}.message"]
    assert HAN.search(chinese) or not re.search(r"\w", re.sub(r"\{.*?\}", "", chinese))


def test_every_cause_is_raised_somewhere() -> None:
    files = (file for file in SRC.rglob("*.py") if file.parent.name != "causes")
    words = {word for file in files for word in re.findall(r"\w+", file.read_text("utf-8"))}
    assert CAUSES.keys() <= words


def calls(file: Path) -> Iterator[tuple[str, int, set[str]]]:
    """The calls of causes in a file: name, line and the parameters that are given."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        target = node.func
        if isinstance(target, ast.Attribute) and target.attr == "failure":
            target = target.value
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name in CAUSES and not any(keyword.arg is None for keyword in node.keywords):
            yield name, node.lineno, {str(keyword.arg) for keyword in node.keywords}


def test_every_cause_is_given_the_parameters_that_its_texts_need() -> None:
    found = [(file, *call) for file in SRC.rglob("*.py") for call in calls(file)]
    assert len(found) > 200
    wrong = [
        f"{file.name}:{line} {name}"
        for file, name, line, given in found
        if given - {"engine", "retry_after"} != names(CAUSES[name])
    ]
    assert wrong == []


def test_every_text_is_used() -> None:
    files = [file for kind in ("py", "html", "js") for file in SRC.rglob(f"*.{kind}")]
    code = "\n".join(file.read_text("utf-8") for file in files)
    quoted = set(re.findall(r"""["'`]([\w.]+)["'`]""", code))
    of_causes = {f"{cause.key}.{part}" for cause in CAUSES.values() for part in ("message", "hint")}
    areas = (
        "cli",
        "page.script",
        "page",
        "references",
        "research.report",
        "export",
        "claims",
        "embedded",
        "config.why",
        "network.reason",
        "doctor.ok",
    )

    def used(key: str) -> bool:
        short = next((key.removeprefix(f"{area}.") for area in areas if key.startswith(f"{area}.")), key)
        return key in quoted or short in quoted or bool(COMPOSED.fullmatch(key))

    rest = [key for key in catalogue(DEFAULT) if key not in of_causes and not key.startswith("failure.verbatim.")]
    assert [key for key in rest if not used(key)] == []


def test_every_text_that_the_code_names_exists() -> None:
    known = catalogue(DEFAULT)
    for folder, area in (("cli", "cli"), ("server", "page"), ("embedded", "embedded")):
        for file in (SRC / folder).rglob("*"):
            if file.suffix in (".py", ".html"):
                for key in re.findall(r"""\bt(?:exts)?\(["']([\w.]+)["'][,)]""", file.read_text("utf-8")):
                    assert f"{area}.{key}" in known, (file.name, key)
    for key in re.findall(r"""\bt\("([\w.]+)"\)""", _scripts()):
        assert f"page.script.{key}" in known, key
    for file in SRC.rglob("*.py"):
        for key in re.findall(r"""\bText\(\s*"([\w.]+)\"""", file.read_text("utf-8")):
            assert key in known, (file.name, key)
        for pattern, area in (
            (r"_why|InvalidValue", "config.why"),
            (r"_bad", "network.reason"),
            (r"_well", "doctor.ok"),
        ):
            for key in re.findall(rf"""\b(?:{pattern})\((?:[\w.]+, )?"(\w+)\"""", file.read_text("utf-8")):
                assert f"{area}.{key}" in known, (file.name, key)
    assert {f"page.guide.{name}" for name in documents.NAMES} <= known.keys()


def _scripts() -> str:
    return "\n".join(file.read_text("utf-8") for file in (SRC / "server" / "static").glob("*.js"))


# --- reading
def test_an_unknown_language_is_english() -> None:
    assert [language(tag) for tag in ("en", "zh", "zh-CN", "zh_TW.UTF-8", "ZH", "xx", "", "C.UTF-8")] == [
        "en", "zh", "zh", "zh", "zh", "en", "en", "en",
    ]  # fmt: skip
    assert text("xx", "language.name") == "English" and text("zh-CN", "language.name") == "中文"


def test_a_text_within_a_text_is_in_the_same_language() -> None:
    reason = Text("network.reason.is", {"reason": Text("network.reason.private")})
    assert reason.localized("en") == "it is a private address" and reason.localized("zh") == "它是私有地址"


def test_the_texts_of_an_area_are_named_without_it() -> None:
    t = Texts("cli", "zh")
    assert t("ask.sources") == "来源" and t.lang == "zh"
    assert subtree("en", "page.script")["copied"] == "Copied"


def test_a_third_language_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "messages").mkdir()
    for file in (SRC / "messages").iterdir():
        if file.is_file():
            (tmp_path / "messages" / file.name).write_bytes(file.read_bytes())
    french = json.loads((SRC / "messages" / "en.json").read_text("utf-8"))
    french["language"]["name"] = "français"
    (tmp_path / "messages" / "fr.json").write_text(json.dumps(french), "utf-8")
    program = "from messages.catalog import languages, text; print(languages(), text('fr-CA', 'language.name'))"
    ran = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split("\n")[0] == "('en', 'fr', 'zh') français"


def test_no_catalogue_is_read_before_a_text_is_asked_for() -> None:
    program = (
        "import suyuan\nfrom suyuan.core.causes.engine import CAPTCHA\nfrom suyuan.messages import catalog\n"
        "error = CAPTCHA(engine='x')\nassert catalog._read.cache_info().currsize == 0\n"
        "str(error)\nassert catalog._read.cache_info().currsize == 1"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


SHOWN_TO_THE_LETTER = {"chat.switch_locked.message"}
"""What the documents quote without a full stop."""


def filled(cause: Cause, ending: str) -> Failure:
    """The failure with texts that end so; where a number is shown, with one."""
    params: dict[str, object] = {}
    for part in ("message", "hint"):
        for _, name, spec, _ in string.Formatter().parse(catalogue(DEFAULT)[f"{cause.key}.{part}"]):
            head, dot, _ = (name or "").partition(".")
            if spec:
                params[head] = 2
            elif dot:
                params[head] = Failure("x", params={"message": ending, "hint": ending})
    given: dict[str, Any] = {name: params.get(name, ending) for name in names(cause)}
    return cause.failure(engine="x", **given)


@pytest.mark.parametrize("ending", ["docker compose restart", "http://localhost:8080", "ends.", "完。", "未知", ""])
def test_every_chinese_sentence_of_a_failure_ends_with_a_full_stop(ending: str) -> None:
    """Also where it ends with a command, an address or somebody else's words."""
    for cause in CAUSES.values():
        for part, said in zip(("message", "hint"), filled(cause, ending).say("zh"), strict=True):
            if HAN.search(said) and f"{cause.key}.{part}" not in SHOWN_TO_THE_LETTER:
                assert said.endswith(("。", "！", "？", ".", "…")), (cause.key, part, said)
