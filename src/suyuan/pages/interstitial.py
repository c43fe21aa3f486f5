"""Is this the page that was asked for, or something that only looks like one? Told by structure, not by a word."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from ..core.causes.page import CHALLENGE_PAGE, EMPTY_TEXT, LOGIN_WALL, NEEDS_SCRIPTS
from ..core.errors import SuyuanError

# The elements of the challenges themselves: Cloudflare, Baidu, DataDome, PerimeterX, Imperva, AWS, hCaptcha, Akamai, Anubis.
_CHALLENGE = (
    "#challenge-form, #challenge-running, #cf-challenge-running, #challenge-error-text, script[src*='/cdn-cgi/challenge-platform/'], "
    "script[src*='wappass.'], script[src*='captcha-delivery.com'], iframe[src*='captcha-delivery.com'], #px-captcha, "
    "iframe[src*='_Incapsula_Resource'], script[src*='_Incapsula_Resource'], script[src*='awswaf.com'], #captcha-form, "
    "form[action*='/sorry/'], #anubis_challenge, script#anubis_challenge, #sec-cpt-if, .h-captcha, .g-recaptcha, .cf-turnstile"
)
_TITLES = re.compile(
    r"just a moment|attention required|access denied|security check|verify(ing)? (you are|that you|your)|are you (a )?human|ddos-guard|"
    r"百度安全验证|安全验证|访问验证|人机验证|滑动验证",
    re.I,
)
_ROOTS = "#root, #app, #__next, #__nuxt, app-root, [data-reactroot], #svelte"
_SHORT = 600
_NOTHING = 25


def false_page(html: str, text: str, where: str) -> SuyuanError | None:
    """The failure that ``html`` stands for (challenge, log-in wall, empty shell), or None; ``text`` is its main text."""
    size = len("".join(text.split()))
    # Real articles embed CAPTCHAs (comments, newsletters) and log-in forms: only a page without much text is judged.
    if size > _SHORT:
        return None
    tree = LexborHTMLParser(html)
    title = " ".join((found.text() if (found := tree.css_first("title")) is not None else "").split())
    if _is_challenge(tree, title, size):
        return CHALLENGE_PAGE(where=where)
    if tree.css_first("input[type='password']") is not None and size < _SHORT / 2:
        return LOGIN_WALL(where=where)
    if size < 200 and _is_shell(tree):
        return NEEDS_SCRIPTS(where=where)
    return EMPTY_TEXT(where=where) if size < _NOTHING else None


def _is_challenge(tree: LexborHTMLParser, title: str, size: int) -> bool:
    if tree.css_first(_CHALLENGE) is not None:
        # A widget in a form of a small page (contact, newsletter) is not a wall: the wall has no other form fields.
        fields = tree.css("input[type='text'], input[type='email'], input:not([type]), textarea")
        return not fields or bool(_TITLES.search(title))
    return bool(_TITLES.search(title)) and size < _SHORT / 2


def _is_shell(tree: LexborHTMLParser) -> bool:
    scripts = tree.css("script")
    if not scripts:
        return False
    root = tree.css_first(_ROOTS)
    if root is not None and len("".join(root.text().split())) < _NOTHING:
        return True
    asks = any("javascript" in node.text().lower() for node in tree.css("noscript"))
    return asks or (len(scripts) >= 3 and tree.css_first("p, article, main, h1") is None)
