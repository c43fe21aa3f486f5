"""Research on a loopback web: the documents of the question sets as pages, an engine that searches them, a model that invents.

For each set: the share of questions whose report holds the answer in a sentence that cites a page which holds it, citations that
are not in the ledger, sentences that are not word for word in a page that they cite, and reports with a disagreement. Where some
documents give a false answer: the share of reports that tell both answers, each with a citation that holds it, and of those that name
both as the sides of a disagreement. Then a scripted model that mixes true sentences with inventions, a job that is killed twenty times,
the time and the requests beside a single ``ask``, and how many pages a second are read. Nothing of ``suyuan.research`` was learned from
these sets; the embedded writer's weights were, so each question is asked with weights of the other half (see ``answers.py``).

The claims of ExpertQA are not among the data.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from html import escape
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple
from unittest.mock import patch

from suyuan.embedded import answerability

from ._report import Target, table
from .answers import BENCH, Case, clapnq_cases, half, holds, sets

QUESTIONS = 30
"""Of each set, drawn by a fixed seed."""
KILLS = 20
_WEIGHTS = json.loads((Path(__file__).parent / "answer_weights.json").read_text("utf-8"))
_LEAST_COVERAGE = 0.3
_CITED = re.compile(r"\[\[(\d+)\]\]\(([^)]+)\)")
# The citation marks of a page are no part of its sentences.
_LETTERS = re.compile(r"\[\d+\]|[\W_]+")
_PASSAGE = re.compile(r"^\[(\d+)\] [^\n]*\n(.+?)(?=\n\n\[\d+\] |\nweb )", re.M | re.S)
_INVENTED = (
    "The expert commission of Atlantis confirmed this in a secret vote",
    "According to the Zarvox Institute, 83.7 percent of all people agree",
    "亚特兰蒂斯研究院认定该数字为八千七百六十五万",
)


class Page(NamedTuple):
    """A page of the loopback web."""

    title: str
    text: str


class Outcome(NamedTuple):
    """What one report is worth."""

    answered: bool
    read: bool
    """Whether a page that was read holds the answer at all."""
    sentences: int
    unsupported: int
    invented: int
    disagreements: int
    told: bool
    """Whether both answers stand in the report, each with a citation that holds it,"""
    both_sides: bool
    """and are named as the sides of a disagreement."""
    seconds: float


# --- the web ----------------------------------------------------------------------------------------------------------
def _serve(pages: Sequence[Page], port: Any) -> None:
    """Run the web until the process is ended: pages, a SearXNG over them, a model that invents, and counts of requests."""
    from aiohttp import web

    from suyuan.core.document import Document
    from suyuan.pages.archive import Archive

    index = Archive(":memory:")
    for at, page in enumerate(pages):
        url = f"http://127.0.0.1/page/{at}"
        index.put(Document(url, url, page.title, page.text, "text/html", "2026-01-01T00:00:00+00:00"))
    counts: Counter[str] = Counter()

    async def show(request: web.Request) -> web.Response:
        counts[request.path] += 1
        page = pages[int(request.match_info["at"])]
        body = "".join(f"<p>{escape(part)}</p>" for part in page.text.split("\n") if part.strip())
        html = f"<html><head><title>{escape(page.title)}</title></head><body><article><h1>{escape(page.title)}</h1>{body}</article></body></html>"
        return web.Response(text=html, content_type="text/html")

    async def search(request: web.Request) -> web.Response:
        query = request.query.get("q", "")
        counts[f"search {query}"] += 1
        rows = [
            {
                "title": hit.document.title,
                "url": hit.document.url.replace("127.0.0.1", request.host),
                "content": hit.document.text[:200],
                "engine": "x",
            }
            for hit in index.search(query, 10)
            # An engine that answers with something else would be taken for one that refuses.
            if hit.coverage >= _LEAST_COVERAGE
        ]
        return web.json_response({"query": query, "results": rows, "unresponsive_engines": []})

    async def model(request: web.Request) -> web.Response:
        body = await request.json()
        said = _liar("\n".join(str(message["content"]) for message in body["messages"]))
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        deltas = [({"role": "assistant", "content": said}, None), ({}, "stop")]
        lines = [
            json.dumps({**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
            for delta, reason in deltas
        ]
        text = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])
        return web.Response(text=text, content_type="text/event-stream")

    async def told(request: web.Request) -> web.Response:
        return web.json_response(dict(counts))

    app = web.Application()
    app.router.add_get("/page/{at}", show)
    app.router.add_get("/search", search)
    app.router.add_get("/healthz", lambda _: asyncio.sleep(0, web.Response(text="OK")))
    app.router.add_get("/counts", told)
    app.router.add_post("/v1/chat/completions", model)

    async def run() -> None:
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port.put(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


def _liar(prompt: str) -> str:
    """One true sentence, then: its figures changed, a number that is no passage's, and three inventions."""
    if "JSON" in prompt or "rewrite each" in prompt.lower() or "逐句改写" in prompt:
        # It plans nothing, and rewrites its inventions as other inventions.
        return "\n".join(f"{at}: {words}[1]." for at, words in enumerate(_INVENTED, 1))
    passages = _PASSAGE.findall(prompt)
    if not passages:
        return "Nothing."
    number, text = passages[0]
    true = re.split(r"(?<=[.。!！?？])\s*", text.strip())[0].rstrip(".。!！?？")
    altered = re.sub(r"\d+", lambda found: str(int(found[0]) * 3 + 7), true)
    lines = [f"{true}[{number}].", f"{true}[9{number}9]."]
    lines += [f"{altered}[{number}]."] if altered != true else []
    return "\n\n".join([*lines, *(f"{words}[{number}]." for words in _INVENTED)])


@contextmanager
def serving(pages: Sequence[Page]) -> Iterator[str]:
    """The web in a process of its own; the address of it."""
    context = multiprocessing.get_context("spawn")
    port = context.Queue()
    process = context.Process(target=_serve, args=(pages, port), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{port.get(timeout=120)}"
    finally:
        process.kill()
        process.join()


def _settings(url: str, folder: str, model: bool = False) -> Any:
    from suyuan.config.settings import PageSettings, SearchSettings, Settings
    from suyuan.core.engine import EngineSettings
    from suyuan.llm.settings import ModelSettings

    return Settings(
        search=SearchSettings(default="searxng", seconds=60, cache_minutes=0),
        engines={"searxng": EngineSettings(base_url=url, rate_per_minute=0)},
        pages=PageSettings(allow_hosts=("127.0.0.1",), timeout_ms=60_000),
        model=ModelSettings("openai", "m", f"{url}/v1") if model else ModelSettings(),
        data_dir=Path(folder),
    )


@asynccontextmanager
async def _client(url: str, folder: str, model: bool = False) -> AsyncIterator[Any]:
    from suyuan.client import AsyncClient

    async with AsyncClient(_settings(url, folder, model)) as client:
        yield client


# --- the sets ---------------------------------------------------------------------------------------------------------
def cases() -> dict[str, list[tuple[Case, str]]]:
    """Questions by set, each with the false answer that some of its documents give, if any."""
    known = sets()
    chosen: dict[str, list[tuple[Case, str]]] = {
        "RGB zh": [(case, "") for case in known["rgb zh 0.4"]],
        "RGB zh two-part": [(case, "") for case in known["rgb zh two-part 0.4"]],
        "RGB en": [(case, "") for case in known["rgb en facts 0.4"]],
        "RGB zh counterfactual": list(_counterfactual("zh_fact")),
        "RGB en counterfactual": list(_counterfactual("en_fact")),
        "CMRC": [(case, "") for case in known["cmrc"]],
        "CLAPNQ": [(case, "") for case in _clapnq()],
    }
    return {name: random.Random(name).sample(own, min(QUESTIONS, len(own))) for name, own in chosen.items()}


def _counterfactual(name: str) -> Iterator[tuple[Case, str]]:
    """As many documents with the answer as with the false one."""
    for line in (BENCH / "ir-rgb" / f"{name}.json").read_text("utf-8").splitlines():
        case = json.loads(line)
        half = len(case["positive"]) // 2 or 1
        wrong = case["positive_wrong"][half:] or case["positive_wrong"]
        texts = [*case["positive"][:half], *wrong, *case["negative"][:2]]
        answers = case["answer"] if isinstance(case["answer"], list) else [case["answer"]]
        groups = tuple(tuple(group) if isinstance(group, list) else (group,) for group in answers)
        yield Case(case["query"], tuple(("", text) for text in texts), groups), str(case["fakeanswer"])


def _clapnq() -> Iterator[Case]:
    for case in clapnq_cases("answerable"):
        passage = case["passages"][0]
        gold = tuple(text for output in case["output"] for text in output["selected_sentences"])
        yield Case(case["input"], ((passage["title"], passage["text"]),), (gold,))


def _pages(chosen: dict[str, list[tuple[Case, str]]]) -> list[Page]:
    texts = {text: title for own in chosen.values() for case, _ in own for title, text in case.documents}
    return [Page(title or text[:40], text) for text, title in texts.items()]


# --- measuring --------------------------------------------------------------------------------------------------------
async def _measure(client: Any, case: Case, false: str, depth: str) -> Outcome:
    started = time.monotonic()
    with patch.object(answerability, "weights", return_value=_WEIGHTS[1 - half(case.question)]):
        found = await client.research(case.question, depth=depth)
    seconds = time.monotonic() - started
    rows = {row["id"]: row for row in found.ledger}
    kept = [claim for claim in found.claims if claim["kept"]]
    pages = {step["final_url"]: step["text"] for step in await _read_pages(client, found.id)}
    answered = _tells(kept, case.answers, rows, pages)
    read = holds("\n".join(pages.values()), case.answers)
    invented = sum(
        int(number) not in rows or rows[int(number)]["final_url"] != url for number, url in _CITED.findall(found.report)
    )
    unsupported = sum(not _literal(claim, rows, pages) for claim in kept)
    sides = " ".join(str(side) for each in found.result["disagreements"] for side in each["sides"])
    told = answered and bool(false) and _tells(kept, ((false,),), rows, pages)
    both = bool(false) and holds(sides, case.answers) and holds(sides, ((false,),))
    disagreements = len(found.result["disagreements"])
    return Outcome(answered, read, len(kept), unsupported, invented, disagreements, told, both, seconds)


async def _read_pages(client: Any, id: str) -> list[dict[str, Any]]:
    steps = await asyncio.to_thread(client.research_service.store.steps, id)
    return [step.data for step in steps if step.kind == "page" and step.data.get("text")]


def _tells(claims: Sequence[Any], answers: Sequence[tuple[str, ...]], rows: Any, pages: Any) -> bool:
    """Whether a sentence holds each part of the answer, and a page that it cites does too."""
    return all(
        any(
            holds(claim["text"], (group,))
            and any(holds(pages[rows[id]["final_url"]], (group,)) for id in claim["ledger"])
            for claim in claims
        )
        for group in answers
    )


def _literal(claim: Any, rows: Any, pages: Any) -> bool:
    """Whether a cited page has the sentence, letter by letter; that is stricter than what the product checks."""
    wanted = _LETTERS.sub("", claim["text"].lower())
    for id in claim["ledger"]:
        row = rows[id]
        text = _LETTERS.sub("", f"{row['title']} {pages[row['final_url']]}".lower())
        title = _LETTERS.sub("", row["title"].lower())
        if wanted in text or wanted.removeprefix(title) in text:
            return True
    return False


async def _sets(url: str, chosen: dict[str, list[tuple[Case, str]]]) -> dict[str, list[Outcome]]:
    results: dict[str, list[Outcome]] = {}
    with tempfile.TemporaryDirectory() as folder:
        async with _client(url, folder) as client:
            for name, own in chosen.items():
                # Few pages hold few sides: where sources are to be compared, as many are read as by default.
                depth = "normal" if "counterfactual" in name else "quick"
                results[name] = [await _measure(client, case, false, depth) for case, false in own]
    return results


async def _invented(url: str, chosen: dict[str, list[tuple[Case, str]]]) -> tuple[int, int, int]:
    """Inventions that a model wrote, those left in a report without a mark, and true sentences that were kept."""
    written = left = true = 0
    with tempfile.TemporaryDirectory() as folder:
        async with _client(url, folder, model=True) as client:
            for name in ("RGB zh", "RGB en", "CLAPNQ"):
                for case, _ in chosen[name][:15]:
                    found = await client.research(case.question, depth="quick")
                    pages = {step["final_url"]: step["text"] for step in await _read_pages(client, found.id)}
                    rows = {row["id"]: row for row in found.ledger}
                    for claim in found.claims:
                        if claim["by"] != "m":
                            continue
                        literal = bool(claim["ledger"]) and _literal(claim, rows, pages)
                        written += not literal
                        left += claim["kept"] and claim["verdict"] == "supported" and not literal
                        true += claim["kept"] and literal
    return written, left, true


_CHILD = """
import asyncio, sys
from benchmarks.research import child
asyncio.run(child(*sys.argv[1:]))
"""


async def child(url: str, folder: str, id: str) -> None:
    """Go on with a job, in a process that will be killed."""
    async with _client(url, folder) as client:
        service = client.research_service
        await service.resume(id)
        await service.wait(id)


async def _killed(url: str, questions: Sequence[str]) -> tuple[int, int, int, bool]:
    """Kills, stored requests made twice, requests under way made again, and whether every report was as without kills."""
    kills = twice = again = 0
    same = True
    for question in questions:
        if kills < KILLS:
            more = await _killed_job(url, question, KILLS - kills)
            kills, twice, again, same = kills + more[0], twice + more[1], again + more[2], same and more[3]
    return kills, twice, again, same


async def _killed_job(url: str, question: str, most: int) -> tuple[int, int, int, bool]:
    """The same for one job."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        before = await _counts(url)
        async with _client(url, other) as client:
            plain = await client.research(question, depth="deep")
        whole = _since(before, await _counts(url))
        async with _client(url, folder) as client:
            job = await client.research_service.create(question, {"depth": "deep", "wait_for_plan": True})
            await client.research_service.wait(job.id)
        before, draw, kills, twice = await _counts(url), random.Random(1), 0, 0
        while _state(folder, job.id) != "done":
            stored, counted = _stored(folder, job.id), _since(before, await _counts(url))
            process = subprocess.Popen(  # noqa: ASYNC220 - it starts at once
                [sys.executable, "-c", _CHILD, url, folder, job.id]
            )
            # After a step or two, or at once; so it is killed while it searches, reads and writes.
            wanted = _steps(folder, job.id) + draw.randint(0, 2)
            while kills < most and process.poll() is None:
                await asyncio.sleep(0.01)
                if _state(folder, job.id) == "running" and _steps(folder, job.id) > wanted:
                    process.send_signal(signal.SIGKILL)
                    kills += 1
                    break
            await asyncio.to_thread(process.wait)
            now = _since(before, await _counts(url))
            twice += sum(now[key] > counted[key] for key in stored)
        now = _since(before, await _counts(url))
        async with _client(url, folder) as client:
            resumed = await client.research_service.get(job.id)
        same = resumed.result["claims"] == plain.result["claims"] and set(now) == set(whole)
        return kills, twice, sum(now.values()) - len(now), same


def _steps(folder: str, id: str) -> int:
    with closing(sqlite3.connect(f"{folder}/chat.sqlite")) as file:
        return int(file.execute("SELECT count(*) FROM suyuan_research_steps WHERE job = ?", (id,)).fetchone()[0])


def _stored(folder: str, id: str) -> set[str]:
    """The requests whose results are on the disk."""
    from suyuan.store.research import ResearchStore

    store = ResearchStore(f"sqlite:///{folder}/chat.sqlite")
    try:
        steps = store.steps(id)
    finally:
        store.close()
    searched = {f"search {step.data['query']}" for step in steps if step.kind == "search"}
    return searched | {re.sub(r"^https?://[^/]+", "", step.data["url"]) for step in steps if step.kind == "page"}


def _state(folder: str, id: str) -> str:
    with closing(sqlite3.connect(f"{folder}/chat.sqlite")) as file:
        return str(file.execute("SELECT state FROM suyuan_research WHERE id = ?", (id,)).fetchone()[0])


async def _counts(url: str) -> Counter[str]:
    import aiohttp

    async with aiohttp.ClientSession() as session, session.get(f"{url}/counts") as answer:
        return Counter(await answer.json())


def _since(before: Counter[str], after: Counter[str]) -> Counter[str]:
    return +(after - before)


async def _beside_ask(url: str, questions: Sequence[str]) -> list[tuple[str, str, str]]:
    rows = []
    for name in ("ask", "research quick", "research normal"):
        with tempfile.TemporaryDirectory() as folder:
            async with _client(url, folder) as client:
                before, seconds = await _counts(url), []
                for question in questions:
                    started = time.monotonic()
                    if name == "ask":
                        await client.ask(question)
                    else:
                        await client.research(question, depth=name.split()[1])
                    seconds.append(time.monotonic() - started)
                requests = sum(_since(before, await _counts(url)).values())
                rows.append((name, f"{median(seconds):.2f}", f"{requests / len(questions):.1f}"))
    return rows


async def _pages_a_second() -> tuple[int, float, float]:
    """Pages of a deep job, how many were read in a second, and how many two idle cores would read by the CPU time.

    With all that is done to a page: it is found, fetched, converted, stored, and its step is on the disk.
    """
    topics = [
        f"{first}{last}" for first in ("north", "south", "east") for last in ("harbour", "bridge", "ferry", "museum")
    ]
    draw = random.Random(5)
    vocabulary = [f"{one}{two}" for one in ("ka", "lo", "mi", "ter", "vas") for two in ("n", "ra", "dol", "min", "set")]
    pages = [
        Page(f"{topic} {at}", "\n".join(f"The {topic} {' '.join(draw.choices(vocabulary, k=50))}." for _ in range(15)))
        for topic in topics
        for at in range(10)
    ]
    with serving(pages) as url, tempfile.TemporaryDirectory() as folder:
        async with _client(url, folder) as client:
            service = client.research_service
            # The reader processes are started once.
            await client.research("What is the northharbour?", depth="quick")
            options = {"depth": "deep", "outline": topics[1:], "budget": {"searches": len(topics) - 1}}
            spent = _cpu_seconds()
            job = await service.create("What is it?", options)
            async for _, event in service.follow(job.id):
                if event["kind"] == "limit":
                    spent = _cpu_seconds() - spent
            steps = await asyncio.to_thread(service.store.steps, job.id)
    read = [step.data for step in steps if step.kind == "page" and not step.data["failure"]]
    begun = max(step.data["elapsed"] for step in steps if step.kind == "search")
    return len(read), len(read) / (max(page["elapsed"] for page in read) - begun), 2 * len(read) / spent


def _cpu_seconds() -> float:
    """The CPU time of this process and of the reader processes, without the web."""
    me, ticks = os.getpid(), 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = stat.read_text().rpartition(") ")
            fields = rest.split()
            is_reader = int(fields[1]) == me and b"benchmarks" not in (stat.parent / "cmdline").read_bytes()
            if int(name.split()[0]) == me or is_reader:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def run() -> list[Target] | None:
    """Print the tables; nothing where the data is missing."""
    if not BENCH.exists():
        print("\nresearch: skipped, the benchmark data is not beside the project")
        return None
    return asyncio.run(_run())


async def _run() -> list[Target]:
    chosen = cases()
    # The pages with false answers are another web: in the first, most disagreements would be false alarms.
    plain = {name: own for name, own in chosen.items() if "counterfactual" not in name}
    false = {name: own for name, own in chosen.items() if "counterfactual" in name}
    with serving(_pages(false)) as url:
        results = await _sets(url, false)
    with serving(_pages(plain)) as url:
        results |= await _sets(url, plain)
        table(
            "research without a model: the answer in a sentence whose citation holds it",
            (
                "set",
                "answered",
                "answer read",
                "sentences",
                "unsupported",
                "invented",
                "disagreement",
                "both told",
                "as sides",
                "median s",
            ),
            [_row(name, own) for name, own in results.items()],
        )
        written, left, true = await _invented(url, chosen)
        print(f"a model that invents: {written} inventions, {left} left without a mark, {true} true sentences kept")
        kills, twice, again, same = await _killed(url, [case.question for case, _ in chosen["RGB zh"]])
        print(
            f"{kills} kills: {twice} stored requests repeated, {again} that were under way made again, same report: {same}"
        )
        questions = [case.question for case, _ in chosen["RGB en"][:10]]
        table("time and requests of a question", ("", "median s", "requests"), await _beside_ask(url, questions))
    count, rate, idle = await _pages_a_second()
    print(f"a deep job: {count} pages read, {rate:.0f} a second; by CPU time {idle:.0f} on two idle cores")
    every = [outcome for own in results.values() for outcome in own]
    sentences = sum(each.sentences for each in every) or 1
    counter = [each for name in results if "counterfactual" in name for each in results[name]]
    return [
        Target("research: invented citations", sum(each.invented for each in every), 0),
        Target("research: unsupported sentences", sum(each.unsupported for each in every) / sentences, 0.02),
        Target("research: answered, RGB zh", fmean(each.answered for each in results["RGB zh"]), 0.8, at_least=True),
        Target("research: both answers told", fmean(each.told for each in counter), 0.5, at_least=True),
        Target("research: contradictions found", fmean(each.both_sides for each in counter), 0.1, at_least=True),
        Target("research: inventions left unmarked", left, 0),
        Target("research: stored requests repeated", twice, 0),
        Target("research: same report after kills", float(same), 1, at_least=True),
        Target("research: pages a second, by CPU time", idle, 30, at_least=True),
    ]


def _row(name: str, own: Sequence[Outcome]) -> tuple[str, ...]:
    sentences = sum(each.sentences for each in own) or 1
    return (
        f"{name} ({len(own)})",
        f"{fmean(each.answered for each in own):.2f}",
        f"{fmean(each.read for each in own):.2f}",
        f"{sentences / len(own):.1f}",
        f"{sum(each.unsupported for each in own) / sentences:.3f}",
        str(sum(each.invented for each in own)),
        f"{fmean(bool(each.disagreements) for each in own):.2f}",
        f"{fmean(each.told for each in own):.2f}" if "counterfactual" in name else "",
        f"{fmean(each.both_sides for each in own):.2f}" if "counterfactual" in name else "",
        f"{median(each.seconds for each in own):.2f}",
    )


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parents[1])
    run()
