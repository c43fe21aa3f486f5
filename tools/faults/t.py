"""Seeded faults for T: the contract of web.search."""

from __future__ import annotations

from .fault import Fault

FAULTS = (
    Fault(
        "T8.1",
        "the report does not read by web.fetch",
        "integrations/research_report.py",
        """item = (await self._execute("web.fetch", {"url": url, "fresh": fresh}))["items"][0]""",
        """item = (await self._client.read(url, fresh=fresh)).as_dict()""",
    ),
    Fault("T1.2", "any kind of address is a result", "search/normalize.py", "    if not url:\n", "    if False:\n"),
    Fault("T1.3", "ranks start at 0", "search/normalize.py", "most), 1)", "most), 0)"),
    Fault("T3.1", "no results may be asked for", "core/query.py", "(self.count, 1, MAX", "(self.count, 0, MAX"),
    Fault(
        "T3.2", "domains are not filtered", "search/normalize.py", "_in_domains(result, query, opaque_links))", "True)"
    ),
    Fault("T4.1", "an error has no type", "core/views.py", '"type": published.pop("code")', '"type": ""'),
    Fault(
        "T6.1",
        "an unknown backend is not logged",
        "config/load.py",
        'log.warning("%s", problem)\n    return "stub"',
        'return "stub"',
    ),
    Fault(
        "T6.2",
        "engines have a time of their own",
        "config/load.py",
        "(info.reads_pages or info.needs_browser)",
        "False",
    ),
    Fault(
        "T7.1", "an unknown tool is not refused", "integrations/providers.py", "if tool not in known:", "if not tool:"
    ),
    Fault(
        "T7.2",
        "an unread refusal is a changed page",
        "core/engine.py",
        "        _check_unread(response, engine)\n\n\ndef _checked",
        "        pass\n\n\ndef _checked",
    ),
    Fault(
        "T7.2",
        "a refusal read as nothing found stays so",
        "core/engine.py",
        "if not results.results and response",
        "if results.results and response",
    ),
    Fault("T7.2", "429 is not a refusal", "core/http_status.py", "if status == 429:", "if status == 999:"),
    Fault("T7.3", "a broken server is not told apart", "core/http_status.py", "if status >= 500:", "if status >= 600:"),
    Fault(
        "T8.2",
        "the address that was asked for is not kept",
        "pages/archive.py",
        "address_key(document.url), page",
        "page",
    ),
)
