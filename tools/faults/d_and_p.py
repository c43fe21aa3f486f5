"""Seeded faults for D and P: the search service, the tool and its providers."""

from __future__ import annotations

from .fault import Fault

FAULTS = (
    Fault(
        "D1.1",
        "only the first word is searched",
        "chat/gathering.py",
        '" ".join(text.split())',
        "text.split()[0]",
    ),
    Fault("D2.4", "the tool gives ten results", "tools/langchain.py", "MOST_RESULTS = 5", "MOST_RESULTS = 10"),
    Fault("P1.2", "every agent has the tool", "config/agents.py", 'entry.get("enabled") is True', "True"),
    Fault(
        "P4.1",
        "a tool is made for everyone",
        "integrations/agents.py",
        "if not options.enabled:\n        return None\n",
        "if False:\n        return None\n",
    ),
    Fault(
        "P2.2", "the environment's key comes first", "config/reader.py", "if wanted.file_first else", "if False else"
    ),
    Fault("P3.3", "Brave's key in another header", "engines/brave.py", '"X-Subscription-Token"', '"X-Token"'),
    Fault(
        "P9.1",
        "an engine may ask any address",
        "net/network.py",
        "return origin(url) in allowed_origins",
        "return True",
    ),
    Fault("P9.2", "every client has limits of its own", "search/engine_state.py", "if key not in _states:", "if True:"),
    Fault(
        "P9.3",
        "keys are printed",
        "core/secret.py",
        "return f\"Secret({MASK if self._value else ''})\"",
        "return self._value",
    ),
    Fault(
        "P9.2",
        "a burst may be more than the limit",
        "search/rate_limit.py",
        "if len(self._slots) < self.most:",
        "if True:",
    ),
    Fault(
        "P2.3",
        "a tool keeps a provider without its key",
        "config/agents.py",
        'return replace(search, provider=FALLBACK_ENGINE, api_key=Secret(""))',
        "return search",
    ),
)
