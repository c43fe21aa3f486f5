"""Exporting a conversation as Markdown, one HTML file, JSON or BibTeX, with citation numbers, links and dates."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from ..core.failure import Failure
from ..core.urls import domain_of
from ..messages.catalog import Texts, language
from ..store.conversation import Conversation, Message
from ..text import markdown_links
from .bibtex import bibtex_entry
from .html_page import html_page
from .verdicts import check_lines, title

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

Form = Literal["md", "html", "json", "bib"]
SCHEMA_VERSION = 1
"""The version of the JSON format; it rises when a field changes its meaning."""

_MODES = {"chat": "Chat", "agent": "Agent"}

_TAGS = {
    "p", "br", "hr", "a", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "h1", "h2", "h3",
    "h4", "h5", "h6",
    "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "th": {"align"}, "td": {"align"}}
# Characters with a meaning in Markdown anywhere, and those with a meaning at the start of a line only.
_SIGNS = re.compile(r"([\\`*_\[\]<>|~&])|^([#+\-=:]|\d+(?=[.)]))")
_MARKUP = {"html_block", "html_inline", "image"}
_CODE = {"fence", "code_block"}


def export(conversation: Conversation, messages: Sequence[Message], form: Form, lang: str) -> str:
    """The conversation in the format ``form``; labels are in ``lang``."""
    made = {"md": _markdown, "html": _html, "json": _json, "bib": _bibtex}[form](conversation, messages, language(lang))
    # Half of a character pair could not be written to a file.
    return made.encode("utf-8", "replace").decode("utf-8")


def render(markdown: str) -> str:
    """Safe HTML for Markdown of a model or a page: no raw HTML, no images, only web and mail links.

    As on the page, the end of a very long text is shown as it was written.
    """
    import nh3

    from ..markup.blocks import split

    shown, rest = split(markdown)
    end = f"<pre>{escape(rest)}</pre>\n" if rest else ""
    return nh3.clean(
        _parser(False).render(shown) + end,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


@cache
def _parser(everything: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": everything, "linkify": False}).enable(["table", "strikethrough"])
    markdown_links.install(parser)
    return markdown_links.compiled(parser if everything else parser.disable(["reference", "image"]))


# --- shared by all formats -------------------------------------------------------------------------------------------
def _marks(message: Message, t: Texts) -> list[str]:
    """Remarks above the answer: not verified, stopped, and so on."""
    answer = message.answer or {}
    marks = [t("unverified")] if answer.get("unverified") else []
    if answer.get("stopped") and message.state == "done":
        marks.append(t("stopped"))
    return marks if message.state == "done" else [*marks, t(message.state)]


def _facts(conversation: Conversation, message: Message, t: Texts) -> list[tuple[str, str]]:
    answer = message.answer or {}
    mode = str(answer.get("mode") or conversation.mode)
    facts = [(t("model"), str(answer.get("model") or conversation.model)), (t("mode"), _MODES.get(mode, mode))]
    return [(name, value) for name, value in [*facts, (t("accessed"), message.created_at[:10])] if value]


def _notices(message: Message, lang: str) -> Iterator[tuple[str, str]]:
    """Message and hint of everything that went wrong, each once."""
    answer = message.answer or {}
    notices = [notice.get("failure") for notice in answer.get("notices") or ()]
    found = [Failure.from_dict(data).say(lang) for data in (*notices, answer.get("failure")) if data]
    yield from dict.fromkeys(found)


def _body(message: Message) -> str:
    return str((message.answer or {}).get("markdown") or message.text)


def _loose_sources(message: Message) -> list[Mapping[str, Any]]:
    """The sources that the text itself does not list: those of a Chat answer that cites none."""
    answer = message.answer or {}
    listed = answer.get("cited") or answer.get("mode") == "agent"
    return [] if listed else list(answer.get("sources") or ())


# --- Markdown ------------------------------------------------------------------------------------------------------
def _markdown(conversation: Conversation, messages: Sequence[Message], lang: str) -> str:
    t = Texts("export", lang)
    parts = [
        f"# {literal(conversation.title or t('untitled'))}",
        f"{t('begun')}{t('colon')}{literal(conversation.created_at[:10])}",
    ]
    for message in messages:
        parts += _asked(message, t) if message.role == "user" else _answered(conversation, message, lang)
    return "\n\n".join(part for part in parts if part) + "\n"


def _asked(message: Message, t: Texts) -> list[str]:
    lines = (line.expandtabs(4) for line in message.text.splitlines())
    # A question is plain text: its lines, its spaces and its signs are shown as they were typed.
    quoted = ["\u00a0" * (len(line) - len(line.lstrip(" "))) + literal(line) for line in lines]
    # A backslash breaks the line, but only where the paragraph goes on.
    broken = (
        f"> {line}\\" if line and after else f"> {line}".rstrip()
        for line, after in zip(quoted, [*quoted[1:], ""], strict=True)
    )
    return [f"## {t('question')}", "\n".join(broken)]


def _answered(conversation: Conversation, message: Message, lang: str) -> list[str]:
    t = Texts("export", lang)
    facts = " · ".join(f"{name}{t('colon')}{literal(value)}" for name, value in _facts(conversation, message, t))
    parts = [f"## {t('answer')}", facts, " ".join(f"**[{mark}]**" for mark in _marks(message, t))]
    parts += [f"> {literal(cause)} {literal(hint)}" for cause, hint in _notices(message, lang)]
    parts.append(harmless(_body(message)))
    if sources := _loose_sources(message):
        lines = (
            f"{source['number']}. {literal(str(source['title']))} — {_address(str(source['url']))}"
            for source in sources
        )
        parts += [f"### {t('sources')}", "\n".join(lines)]
    if checked := check_lines(message.answer or {}, lang):
        parts += [f"### {literal(title(lang))}", "\n".join(f"- {literal(line)}" for line in checked)]
    return parts


def _address(url: str) -> str:
    # In angle brackets an address may contain everything except these.
    return f"<{url}>" if url.startswith(("http://", "https://")) and not re.search(r"[<>\s]", url) else literal(url)


def literal(text: str) -> str:
    """``text`` as Markdown that shows exactly it, on one line."""
    return _SIGNS.sub(_escaped, " ".join(text.split()))


def _escaped(sign: re.Match[str]) -> str:
    # A number cannot be escaped itself; the dot or bracket after it is what makes it a list.
    return f"{sign[0]}\\" if sign[0].isdigit() else f"\\{sign[0]}"


def harmless(markdown: str) -> str:
    """``markdown`` without HTML and pictures, which some viewers run and load; code stays as it is."""
    for _ in range(4):
        tokens = _parser(True).parse(markdown)
        if not any(
            token.type in _MARKUP or any(child.type in _MARKUP for child in token.children or ()) for token in tokens
        ):
            return markdown
        code = {line for token in tokens if token.type in _CODE and token.map for line in range(*token.map)}
        lines = markdown.splitlines(keepends=True)
        markdown = "".join(line if n in code else _defused(line) for n, line in enumerate(lines))
    # A change may turn code into text; only a text made on purpose does that, and it may lose its code.
    return _defused(markdown)


def _defused(text: str) -> str:
    return re.sub(r"(?<!\\)!\[", r"\\![", text.replace("<", "&lt;"))


# --- HTML ----------------------------------------------------------------------------------------------------------
def _html(conversation: Conversation, messages: Sequence[Message], lang: str) -> str:
    t = Texts("export", lang)
    parts = [f'<p class="meta">{t("begun")}{t("colon")}{escape(conversation.created_at[:10])}</p>']
    for message in messages:
        if message.role == "user":
            parts.append(f'<h2>{t("question")}</h2>\n<div class="question">{escape(message.text)}</div>')
        else:
            parts += _answer_html(conversation, message, lang)
    return html_page(conversation.title or t("untitled"), lang, parts)


def _answer_html(conversation: Conversation, message: Message, lang: str) -> list[str]:
    t = Texts("export", lang)
    facts = " · ".join(escape(f"{name}{t('colon')}{value}") for name, value in _facts(conversation, message, t))
    parts = [f'<h2>{t("answer")}</h2>\n<p class="meta">{facts}</p>']
    if marks := _marks(message, t):
        parts.append("<p>" + "".join(f'<strong class="mark">{mark}</strong>' for mark in marks) + "</p>")
    parts += [f'<p class="notice">{escape(cause)} {escape(hint)}</p>' for cause, hint in _notices(message, lang)]
    parts.append(f"<article>\n{render(_body(message))}</article>")
    if sources := _loose_sources(message):
        items = "".join(f'<li value="{int(source["number"])}">{_source_html(source)}</li>' for source in sources)
        parts.append(f"<h3>{t('sources')}</h3>\n<ol>{items}</ol>")
    if checked := check_lines(message.answer or {}, lang):
        items = "".join(f"<li>{escape(line)}</li>" for line in checked)
        parts.append(f"<h3>{escape(title(lang))}</h3>\n<ul>{items}</ul>")
    return parts


def _source_html(source: Mapping[str, Any]) -> str:
    title, url = escape(str(source["title"] or source["url"])), str(source["url"])
    if not url.startswith(("http://", "https://")):
        return f"{title} — {escape(url)}"
    return f'<a href="{escape(url)}" rel="noopener noreferrer nofollow" target="_blank">{title}</a> — {escape(url)}'


# --- BibTeX --------------------------------------------------------------------------------------------------------
def _bibtex(conversation: Conversation, messages: Sequence[Message], lang: str) -> str:
    """The sources that the answers cite, each once."""
    cited: dict[str, Mapping[str, Any]] = {}
    for message in messages:
        answer = message.answer or {}
        for source in answer.get("sources") or ():
            if source["number"] in (answer.get("cited") or ()):
                cited.setdefault(str(source["url"]), {"read_at": message.created_at, **source})
    return "\n".join(
        bibtex_entry(
            f"source{at}",
            title=str(source["title"]),
            url=url,
            site=domain_of(url),
            published_at=str(source.get("published_at") or ""),
            read_at=str(source.get("read_at") or ""),
        )
        for at, (url, source) in enumerate(cited.items(), 1)
    )


# --- JSON ----------------------------------------------------------------------------------------------------------
def _json(conversation: Conversation, messages: Sequence[Message], lang: str) -> str:
    data = {
        "schema_version": SCHEMA_VERSION,
        "lang": lang,
        "conversation": conversation.as_dict(),
        "messages": [message.as_dict() for message in messages],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
