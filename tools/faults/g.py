"""Seeded faults for G: Google through a browser, and engines."""

from __future__ import annotations

from .fault import Fault

FAULTS = (
    Fault("G1.2", "no region for a Chinese query", "engines/ddg_html.py", 'form["kl"] = code', "pass"),
    Fault(
        "G2.1",
        "results have no source",
        "core/views.py",
        '"snippet": r.snippet, "source": r.source}',
        '"snippet": r.snippet}',
    ),
    Fault("G2.2", "nine results", "core/query.py", "MAX_RESULTS = 10", "MAX_RESULTS = 9"),
    Fault(
        "G3.2",
        "a CAPTCHA is not recognised",
        "engines/google.py",
        "if tree.css_first(_CAPTCHA) is not None:",
        "if False:",
    ),
    Fault(
        "G5.1",
        "the browser starts late",
        "net/browser.py",
        "began = time.monotonic()\n",
        "began = time.monotonic()\n        await asyncio.sleep(15)\n",
    ),
    Fault("G5.2", "every search starts a browser", "net/browser.py", "if self._start is None:", "if True:"),
    Fault(
        "G6.1",
        "an engine may take as long as it likes",
        "search/runner.py",
        "async with asyncio.timeout(allowed):",
        "async with asyncio.timeout(20 * allowed):",
    ),
    Fault("G6.2", "an empty query is sent", "core/query.py", "raise causes.EMPTY_QUERY()", "return text"),
    Fault(
        "G6.3",
        "a missing browser is not named",
        "net/chrome.py",
        "raise CHROME_MISSING(command=command)",
        'return ChromeFound("chrome", "chrome")',
    ),
    Fault(
        "G4.2",
        "every foreign engine is made with the settings",
        "core/foreign_engine.py",
        "return named or first.default is inspect.Parameter.empty",
        "return True",
    ),
)
