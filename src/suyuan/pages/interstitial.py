"""Recognises interstitial pages by their structure: challenges, login walls and pages without content."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from ..core.causes.page import CHALLENGE_PAGE, EMPTY_TEXT, LOGIN_WALL, NEEDS_SCRIPTS, NEEDS_SCRIPTS_RENDERED
from ..core.errors import SuyuanError
from .bounded import bounded

# Elements of challenge pages: Cloudflare, Baidu, DataDome, PerimeterX, Imperva, AWS, hCaptcha, Akamai, Anubis.
_CHALLENGE = (
    "#challenge-form, #challenge-running, #cf-challenge-running, #challenge-error-text, "
    "script[src*='/cdn-cgi/challenge-platform/'], script[src*='wappass.'], script[src*='captcha-delivery.com'], "
    "iframe[src*='captcha-delivery.com'], #px-captcha, iframe[src*='_Incapsula_Resource'], "
    "script[src*='_Incapsula_Resource'], script[src*='awswaf.com'], #captcha-form, form[action*='/sorry/'], "
    "#anubis_challenge, #sec-cpt-if, .h-captcha, .g-recaptcha, .cf-turnstile"
)
_CHALLENGE_TITLES = re.compile(
    r"just a moment|attention required|access denied|security check|verify(ing)? (you are|that you|your)|"
    r"are you (a )?human|ddos-guard|"
    r"百度安全验证|安全验证|访问验证|人机验证|滑动验证",
    re.I,
)
_APP_ROOTS = "#root, #app, #__next, #__nuxt, app-root, [data-reactroot], #svelte"
_LITTLE_TEXT = 600
_NO_TEXT = 25


def interstitial_error(html: str, text: str, where: str, rendered: bool = False) -> SuyuanError | None:
    """Return the error if ``html`` is an interstitial page, else None; ``text`` is its main content.

    ``rendered``: a browser has run its scripts.
    """
    # No more than is compared with: of a long text the rest counts as one word.
    size = sum(map(len, text.split(None, _LITTLE_TEXT)))
    # Articles can contain CAPTCHAs and login forms too, so only pages with little text are checked.
    if size > _LITTLE_TEXT:
        return None
    tree = LexborHTMLParser(bounded(html).html)
    title = " ".join((found.text() if (found := tree.css_first("title")) is not None else "").split())
    if _is_challenge(tree, title, size):
        return CHALLENGE_PAGE(where=where)
    if tree.css_first("input[type='password']") is not None and size < _LITTLE_TEXT / 2:
        return LOGIN_WALL(where=where)
    if size < 200 and _needs_scripts(tree):
        return (NEEDS_SCRIPTS_RENDERED if rendered else NEEDS_SCRIPTS)(where=where)
    return EMPTY_TEXT(where=where) if size < _NO_TEXT else None


def _is_challenge(tree: LexborHTMLParser, title: str, size: int) -> bool:
    if tree.css_first(_CHALLENGE) is not None:
        # A challenge page has no other form fields; a contact or newsletter form does.
        fields = tree.css("input[type='text'], input[type='email'], input:not([type]), textarea")
        return not fields or bool(_CHALLENGE_TITLES.search(title))
    return bool(_CHALLENGE_TITLES.search(title)) and size < _LITTLE_TEXT / 2


def _needs_scripts(tree: LexborHTMLParser) -> bool:
    """Whether the page is an empty application that scripts fill."""
    scripts = tree.css("script")
    if not scripts:
        return False
    root = tree.css_first(_APP_ROOTS)
    if root is not None and len("".join(root.text().split())) < _NO_TEXT:
        return True
    noscript = any("javascript" in node.text().lower() for node in tree.css("noscript"))
    return noscript or (len(scripts) >= 3 and tree.css_first("p, article, main, h1") is None)
