"""Seeded faults for C1 to C8: web search in conversations, and what is said when it fails."""

from __future__ import annotations

from .fault import Fault

FAULTS = (
    Fault(
        "C1.1",
        "the switch is not followed",
        "chat/chat_turn.py",
        "if turn.searches else",
        "if False else",
    ),
    Fault("C1.2", "the switch can be set in Agent mode", "chat/service.py", 'and mode == "agent"', 'and mode == "?"'),
    Fault(
        "C1.3",
        "Agent mode switches search off for good",
        "store/conversations.py",
        "values: dict[str, Any] = dict(options)\n",
        'values: dict[str, Any] = {**options, **({"search": False} if "mode" in options else {})}\n',
    ),
    Fault("C2.1", "nothing is checked at the start", "server/health.py", "self._start_up())", "asyncio.sleep(0))"),
    Fault("C2.2", "snippets are not read", "engines/searxng.py", 'row.get("content")', 'row.get("text")'),
    Fault(
        "C2.3", "a search may take 50 seconds", "config/settings.py", 'timeoutSeconds", 5.0,', 'timeoutSeconds", 50.0,'
    ),
    Fault("C2.4", "an answer without search is not marked", "chat/chat_turn.py", "turn.unverified = True", "pass"),
    Fault(
        "C2.5",
        "JSON being off is not found",
        "engines/searxng_diagnosis.py",
        "_CLOSED = (403,",
        "_CLOSED = (999,",
    ),
    Fault(
        "C3.2",
        "search is made with the switch off",
        "chat/chat_turn.py",
        "if turn.searches else",
        "if True else",
    ),
    Fault(
        "C4.1",
        "results have no numbers in the prompt",
        "tools/text.py",
        'return f"[{source.number}] {title}',
        'return f"{title}',
    ),
    Fault(
        "C4.2",
        "a search without results is not mentioned",
        "chat/prompts.py",
        "[_NO_RESULTS[lang].format(query=query), ",
        "[",
    ),
    Fault("C4.3", "fifty results go into the prompt", "chat/settings.py", "results: int = 5", "results: int = 50"),
    Fault(
        "C4.4",
        "numbers start at 2",
        "citations/registry.py",
        "number = len(self._numbers) + 1",
        "number = len(self._numbers) + 2",
    ),
    Fault("C6.1", "another default address", "engines/searxng.py", "localhost:8080", "localhost:8081"),
    Fault(
        "C7.1",
        "a failed search ends the turn",
        "chat/gathering.py",
        "            self.found.error = error\n            return None",
        "            raise",
    ),
    Fault(
        "C7.2",
        "malformed results fail the search",
        "engines/json_kit.py",
        "if rows and not results:",
        "if len(results) < len(rows):",
    ),
    Fault("C7.2", "skipped results are not logged", "search/runner.py", "self._log_skipped(results, query)", "pass"),
    Fault(
        "C7.2",
        "the log does not say which result was skipped, and why",
        "search/runner.py",
        '[f"row {row.number}: {row.reason}" for row in results.skipped]',
        '["" for row in results.skipped]',
    ),
    Fault("C8.2", "the template has JSON off", "deploy/searxng/settings.world.yml", "    - json\n", ""),
    Fault(
        "C1.2",
        "the switch of a draft can be changed in Agent mode",
        "server/draft.py",
        'if "search" in change and after["mode"] == "agent":',
        "if False:",
    ),
)
