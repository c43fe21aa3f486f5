"""Seeded faults: each breaks one promise of the product, and a test must notice.

``text`` occurs exactly once in the file (below ``src/suyuan``) and is replaced. ``shown_by`` is a requirement, all of
whose tests are run, or the tests themselves as pytest names them (``tests/x.py`` or ``tests/x.py::test``).
"""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """One fault: what it breaks, where, and which tests must fail."""

    shown_by: str
    breaks: str
    file: str
    text: str
    replacement: str


FAULTS = (
    # --- C: chat and agent search
    Fault("C1.1", "the switch is not followed", "chat/chat_turn.py", "if turn.session.searching else", "if False else"),
    Fault("C1.2", "the switch can be set in Agent mode", "chat/service.py", 'and mode == "agent"', 'and mode == "?"'),
    Fault(
        "C1.3",
        "Agent mode switches search off for good",
        "store/conversations.py",
        'given = {"mode": mode, "search": search,',
        'given = {"mode": mode, "search": False if mode else search,',
    ),
    Fault("C2.1", "nothing is checked at the start", "server/health.py", "self._start_up())", "asyncio.sleep(0))"),
    Fault("C2.2", "snippets are not read", "engines/searxng.py", 'row.get("content")', 'row.get("text")'),
    Fault(
        "C2.3", "a search may take 50 seconds", "config/settings.py", 'timeoutSeconds", 5.0,', 'timeoutSeconds", 50.0,'
    ),
    Fault("C2.4", "an answer without search is not marked", "chat/chat_turn.py", "turn.unverified = True", "pass"),
    Fault(
        "C9.2",
        "a search names another cause than the health check",
        "search/runner.py",
        "error = await drive(exchange, self.send)",
        "await drive(exchange, self.send)",
    ),
    Fault(
        "C9.1",
        "a busy SearXNG counts as one that hangs",
        "doctor/searxng.py",
        "if seconds > BUSY_SECONDS:",
        "if seconds > 60 * BUSY_SECONDS:",
    ),
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
        "if turn.session.searching else",
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
    Fault("C8.2", "the template has JSON off", "deploy/searxng/settings.world.yml", "    - json\n", ""),
    Fault(
        "C10.3",
        "another description of the switch",
        "messages/zh.json",
        "启用后将使用SearXNG搜索实时信息",
        "启用后将搜索实时信息",
    ),
    Fault(
        "C11.2",
        "links are not doubly bracketed",
        "citations/linker.py",
        'f"[[{source.number}]]({url})"',
        'f"[{source.number}]({url})"',
    ),
    Fault("C11.4", "references have no domain", "citations/references.py", 'f" — {escape(source.domain)}"', '""'),
    Fault(
        "C11.6",
        "unknown numbers are not logged",
        "citations/linker.py",
        'log.warning("the answer cites',
        'log.debug("the answer cites',
    ),
    Fault(
        "C12.1",
        "the domain of a source keeps its port",
        "citations/registry.py",
        "return SearchResult(self.title, self.url).source",
        'return self.url.split("/")[2]',
    ),
    Fault(
        "C13.1",
        "the session caches nothing",
        "tools/session.py",
        "self._put(key, page)\n        return page",
        "return page",
    ),
    Fault(
        "C13.2",
        "a cache hit is not logged",
        "tools/session.py",
        'log.info("session cache hit',
        'log.debug("session cache hit',
    ),
    Fault(
        "C13.3",
        "the cache outlives the conversation",
        "chat/session_factory.py",
        "if key[0] == conversation]",
        "if False]",
    ),
    Fault("C13.4", "the cache holds 21 queries", "tools/session.py", "SESSION_QUERIES = 20", "SESSION_QUERIES = 21"),
    Fault("C14.1", "the tool has another name", "tools/specs.py", 'name="web_search"', 'name="search_web"'),
    Fault("C14.2", "another description of the tool", "tools/specs.py", "当前新闻或验证信息时", "当前新闻时"),
    Fault("C14.3", "another description of the input", "tools/specs.py", "应该具体、清晰、针对性强", "应该具体"),
    Fault("C15.1", "a page gets a second number", "citations/registry.py", "if key in self._numbers:", "if False:"),
    Fault(
        "C15.3", "cited sources are not marked", "citations/references.py", "if number in used else", "if False else"
    ),
    # --- D, P: service, tool, providers, configuration
    Fault(
        "D1.1",
        "only the first word is searched",
        "chat/gathering.py",
        '" ".join(text.split())',
        "text.split()[0]",
    ),
    Fault(
        "tests/chat/test_gathering.py",
        "pages are not read in Chat mode",
        "chat/gathering.py",
        "if seconds := self._turn.session.settings.read_seconds:",
        "if False:",
    ),
    Fault(
        "tests/chat/test_gathering.py",
        "a follow-up is searched only word for word",
        "chat/gathering.py",
        "return await self._searched(query) if query else None",
        "return None",
    ),
    Fault("D2.4", "the tool gives ten results", "tools/langchain.py", "MOST_RESULTS = 5", "MOST_RESULTS = 10"),
    Fault("P1.2", "every agent has the tool", "config/agents.py", 'own.get("enabled") is True', "True"),
    Fault("P4.1", "a tool is made for everyone", "integrations/agents.py", "if not options.enabled:", "if False:"),
    Fault(
        "P2.2", "the environment's key comes first", "config/reader.py", "if wanted.file_first else", "if False else"
    ),
    Fault("P3.3", "Brave's key in another header", "engines/brave.py", '"X-Subscription-Token"', '"X-Token"'),
    Fault(
        "P9.1",
        "an engine may ask any address",
        "net/network.py",
        "            return False\n        upgraded",
        "            return False\n        return True\n        upgraded",
    ),
    Fault("P9.2", "every client has limits of its own", "search/engine_state.py", "if key not in _states:", "if True:"),
    Fault(
        "P9.3",
        "keys are printed",
        "core/secret.py",
        "return f\"Secret({MASK if self._value else ''})\"",
        "return self._value",
    ),
    # --- T: the contract of web.search
    Fault("T1.2", "any kind of address is a result", "search/normalize.py", "if is_page(result.url) and (", "if ("),
    Fault("T1.3", "ranks start at 0", "search/normalize.py", "most), 1)", "most), 0)"),
    Fault("T3.1", "no results may be asked for", "core/query.py", "not 1 <= self.count", "not 0 <= self.count"),
    Fault("T3.2", "domains are not filtered", "search/normalize.py", "_in_domains(result, query))", "True)"),
    Fault("T4.1", "an error has no type", "core/views.py", '"type": published.pop("code")', '"type": ""'),
    Fault(
        "T6.1",
        "an unknown backend is not logged",
        "config/load.py",
        'log.warning("%s", problem)\n    return "stub"',
        'return "stub"',
    ),
    Fault("T6.2", "engines have a time of their own", "config/load.py", '(name.endswith("_html") or', "(False and"),
    Fault(
        "T7.1", "an unknown tool is not refused", "integrations/providers.py", "if tool not in known:", "if not tool:"
    ),
    Fault(
        "T7.2",
        "an unread refusal is a changed page",
        "core/engine.py",
        "            _check_unread(last, engine.name)\n        raise",
        "            pass\n        raise",
    ),
    Fault(
        "T7.2",
        "a refusal read as nothing found stays so",
        "core/engine.py",
        "if last is not None and refused and not",
        "if last is not None and refused and",
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
    # --- G: Google, browser, engines
    Fault("G1.2", "no region for a Chinese query", "engines/ddg_html.py", 'form["kl"] = region', "pass"),
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
        "began = time.monotonic()\n        await asyncio.sleep(4)\n",
    ),
    Fault("G5.2", "every search starts a browser", "net/browser.py", "if self._start is None:", "if True:"),
    Fault(
        "G6.1",
        "an engine may take as long as it likes",
        "search/runner.py",
        "async with asyncio.timeout(allowed):",
        "async with asyncio.timeout(20 * allowed):",
    ),
    Fault("G6.2", "an empty query is sent", "core/query.py", "raise EMPTY_QUERY()", "return text"),
    Fault(
        "G6.3",
        "a missing browser is not named",
        "net/chrome.py",
        "raise CHROME_MISSING(command=command)",
        'return ChromeFound("chrome", "chrome")',
    ),
    # --- what no requirement names
    Fault(
        "tests/chat/test_chat_turn.py",
        "growing answers are not kept",
        "chat/runs.py",
        "await asyncio.sleep(_KEEP_EVERY)",
        "await asyncio.sleep(3600)",
    ),
    Fault(
        "tests/chat/test_safety.py",
        "pages can send the agent anywhere",
        "chat/web_policy.py",
        "if known is None:",
        "known = known or url\n        if known is None:",
    ),
    Fault(
        "tests/chat/test_unsaved.py",
        "a store that fails takes the answer with it",
        "chat/runs.py",
        "            failure = error.failure\n        except Exception",
        "            raise\n        except Exception",
    ),
    Fault(
        "tests/chat/test_unsaved.py",
        "an answer that was not saved is not tried again",
        "chat/unsaved.py",
        "        while self._runs:\n",
        "        while False:\n",
    ),
    Fault(
        "tests/server/test_lockout.py",
        "silent connections are kept",
        "net/connections.py",
        "        oldest.drop()\n",
        "",
    ),
    Fault(
        "tests/server/test_security.py",
        "wrong cookies are not counted",
        "server/security.py",
        "        raise self._credentials.refuse(client_key(scope))",
        "        raise self._credentials.refuse(client_key(scope)) if given else TOKEN_WRONG()",
    ),
    Fault(
        "tests/server/test_security.py",
        "anybody's X-Forwarded-For is believed",
        "net/http_server.py",
        "proxy_headers=bool(trusted_proxies),\n        forwarded_allow_ips=list(trusted_proxies),",
        "proxy_headers=True,\n        forwarded_allow_ips=list(trusted_proxies) or '127.0.0.1',",
    ),
    Fault(
        "tests/core/test_errors.py",
        "secrets are found as they are only",
        "core/secret.py",
        "tuple(_forms(part)) for part",
        "(part,) for part",
    ),
    Fault(
        "tests/chat/test_safety.py",
        "a model can add parameters to an address",
        "chat/web_policy.py",
        "        return known\n",
        "        return url\n",
    ),
    Fault(
        "tests/pages/test_fetch.py",
        "pages of scripts are not rendered",
        "pages/fetch.py",
        "or not self._settings.render or",
        "or True or",
    ),
    Fault(
        "tests/pages/test_archive.py",
        "the archive offers any page",
        "pages/archive_engine.py",
        "_MIN_COVERAGE = 0.5",
        "_MIN_COVERAGE = 0.0",
    ),
    Fault(
        "tests/search/test_service.py",
        "an overtaken engine is not remembered",
        "search/runner.py",
        'self.breaker.timed_out("slow")',
        "None",
    ),
    Fault(
        "tests/search/test_parts.py",
        "an engine's usual time is not learned",
        "search/engine_state.py",
        "self.latency += (0.2 if self.measured else 1.0)",
        "self.latency += 0.0",
    ),
    Fault(
        "tests/search/test_relevance.py",
        "results about something else are shown",
        "search/relevance.py",
        "share < RELEVANT:",
        "share < 0:",
    ),
    Fault(
        "tests/search/test_service.py",
        "a merged page does not wait for slower engines",
        "search/fanout.py",
        "end = started + longest if",
        "end = started + 0.3 if",
    ),
    Fault(
        "tests/search/test_service.py",
        "a fault in the breaker ends a search",
        "search/guarded.py",
        "except Exception:",
        "except KeyError:",
    ),
    Fault(
        "tests/search/test_breaker.py",
        "cooldowns overflow",
        "search/breaker.py",
        "_MAX_EXPONENT = 10",
        "_MAX_EXPONENT = 9999",
    ),
    Fault(
        "tests/net/test_guard.py",
        "loopback may be read",
        "net/guard.py",
        '("127.0.0.0/8", _LOOPBACK)',
        '("127.255.0.0/16", _LOOPBACK)',
    ),
    # --- the demo
    Fault(
        "tests/demo/test_web.py::test_a_demo_client_reads_nothing_else",
        "a demo client reads other addresses",
        "demo/network.py",
        "or address.host not in self._demo_hosts",
        "",
    ),
    Fault(
        "tests/demo/test_web.py::test_every_page_is_found_by_a_question_about_it",
        "results of the demo are not marked",
        "demo/page.py",
        "{_MARKS[self.lang]}",
        "",
    ),
    Fault(
        "tests/demo/test_web.py::test_the_receipt_shows_the_engine_that_refuses_and_the_demo",
        "the engine that refuses is not asked",
        "demo/web.py",
        'f"{DemoRefusing.name},{Demo.name}"',
        "Demo.name",
    ),
    Fault(
        "tests/server/test_demo_page.py::test_a_server_for_other_machines_offers_no_demo",
        "servers for other machines start a demo",
        "server/page.py",
        "return here and hasattr",
        "return hasattr",
    ),
    Fault(
        "tests/server/test_demo_page.py::test_the_usual_page_starts_the_demo_once_on_a_port_of_its_own",
        "the page of the demo is not marked",
        "server/page.py",
        '"demo": _client(request).settings.demo,',
        '"demo": False,',
    ),
)
