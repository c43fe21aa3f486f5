"""Reports as files, sources that are one origin, disagreements, further questions, and the word when a job is done."""

from __future__ import annotations

import asyncio
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from research.ledgers import ledger
from research.researchers import Researchers
from support.site import reply, serve
from suyuan.client import AsyncClient
from suyuan.config.settings import PageSettings, Settings
from suyuan.core.errors import SuyuanError
from suyuan.net.chrome import find_chrome
from suyuan.research import workers as workers_module
from suyuan.research.checking import SentenceChecker
from suyuan.research.docx import docx_report
from suyuan.research.export import export
from suyuan.research.forms import FORMS
from suyuan.research.html import HtmlReport
from suyuan.research.ledger import build_ledger
from suyuan.research.markdown import MarkdownReport
from suyuan.research.origins import PageText, find_origins
from suyuan.research.plan import ResearchPlan, SubQuestion
from suyuan.research.report import Research, figures
from suyuan.research.sentence import ReportSentence, Section
from suyuan.research.verify import read_report, verify

QUESTION = "How tall is the Gull Point Lighthouse?"


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    """Finished jobs by question, made once."""
    return {}


async def finished(researchers: Researchers, results: dict[str, dict[str, Any]], question: str) -> dict[str, Any]:
    if question not in results:
        async with researchers.client() as client:
            results[question] = (await client.research(question, depth="quick")).as_dict()
    return results[question]


async def test_every_format_has_the_report(researchers: Researchers, results: dict[str, Any]) -> None:
    pytest.importorskip("docx", reason="the optional extra suyuan[docx] is not installed")
    result = await finished(researchers, results, QUESTION)
    async with researchers.client() as client:
        files = {form: await export(result, form, client.network) for form in FORMS if form != "pdf"}
    assert files["md"].decode() == result["report"] and json.loads(files["json"]) == result
    with zipfile.ZipFile(io.BytesIO(files["docx"])) as word:
        assert "41 metres tall" in word.read("word/document.xml").decode()
    entries = json.loads(files["csl"])
    cited = {row["final_url"] for row in result["ledger"] for claim in result["claims"] if row["id"] in claim["ledger"]}
    assert {entry["URL"] for entry in entries} == cited and entries[0]["accessed"]["date-parts"][0][0] >= 2026
    assert files["bib"].decode().count("@online{") == len(entries) == files["ris"].decode().count("TY  - ELEC\r\n")


async def test_the_html_is_one_file_that_loads_nothing_and_shows_each_passage(
    researchers: Researchers, results: dict[str, Any]
) -> None:
    result = await finished(researchers, results, QUESTION)
    html = HtmlReport(result).text()
    assert "default-src 'none'" in html and not re.search(r"<(?:script|img|link|iframe)\b|url\(|@import|src=", html)
    for target in re.findall(r'href="#(p\d+)"', html):
        assert f'id="{target}"' in html
    row = result["ledger"][0]
    assert row["sha256"] in html and row["fetched_at"] in html and html.count('class="bar"') == 1
    hostile = {
        **result,
        "question": "<script>alert(1)</script>",
        "ledger": [{**row, "title": "<img src=x>"}, *result["ledger"][1:]],
    }
    told = HtmlReport(hostile).text()
    assert "<script" not in told and "<img" not in told
    assert not re.search(r"(?<!\\)<img", MarkdownReport(hostile).text())


async def test_a_pdf_is_printed_by_the_browser(researchers: Researchers, results: dict[str, Any]) -> None:
    pytest.importorskip("playwright.async_api", reason="the optional extra suyuan[browser] is not installed")
    try:
        find_chrome()
    except SuyuanError as error:
        pytest.skip(error.message)
    pypdf = pytest.importorskip("pypdf", reason="the optional extra suyuan[pages] is not installed")
    result = await finished(researchers, results, QUESTION)
    before = len(researchers.web.requests)
    # The browser of the demo prints as well, and loads nothing, not even from this machine.
    for made in (AsyncClient(Settings()), researchers.client()):
        async with made as client:
            pdf = await export(result, "pdf", client.network)
            text = " ".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages)
            assert pdf.startswith(b"%PDF") and "41 metres tall" in " ".join(text.split())
            address = f"http://127.0.0.1:{researchers.web.port}/"
            assert await client.network.print_pdf(f"<img src='{address}picture'><iframe src='{address}'></iframe>")
    assert len(researchers.web.requests) == before


async def test_a_report_without_findings_is_exported_too(researchers: Researchers) -> None:
    async with researchers.client() as client:
        found = await client.research("zxqv wplk qqqq?", depth="quick")
        html = (await export(found.as_dict(), "html", client.network)).decode()
    assert found.state == "done" and not found.claims
    # Nothing comes closest where nothing was read.
    assert "No page was read about this." in html and "closest" not in html + found.report


async def test_every_form_tells_the_same(researchers: Researchers, results: dict[str, Any]) -> None:
    docx = pytest.importorskip("docx", reason="the optional extra suyuan[docx] is not installed")
    result = await finished(researchers, results, "Who acquired Norvane Labs?")
    [side, _] = result["disagreements"][0]["sides"]
    failed = {
        **result["sources"][0],
        "status": "failed",
        "url": "https://gone.example/page",
        "error": {"message": "It is gone."},
    }
    notice = {"message": "The model failed.", "hint": "Try another."}
    result = {
        **result,
        "notices": [notice],
        "sources": [*result["sources"], failed],
        "skipped": ["https://farm.example/page"],
        "budget": {**result["budget"], "reached": ["pages"]},
    }
    document = docx.Document(io.BytesIO(docx_report(result)))
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    forms = ["\n".join([*(each.text for each in document.paragraphs), *cells])]
    forms += [HtmlReport(result).text(), MarkdownReport(result).text()]
    told = [
        f"since {side['since']}",
        side["sources"][0]["site"],
        "2 sources, 1 origin",
        "The search was ended by a limit: pages",
    ]
    told += ["The model failed. Try another.", "https://gone.example/page — It is gone.", "https://farm.example/page"]
    told += ["captcha", "results: ", result["timeline"][0]["date"]]
    for form in forms:
        plain = form.replace("\\", "")
        assert [text for text in told if text not in plain] == []


# --- what a section says ----------------------------------------------------------------------------------------------
async def test_a_section_is_about_the_thing_that_is_asked_for(
    researchers: Researchers, results: dict[str, Any]
) -> None:
    question = "How tall is the Sallow Head lighthouse, and who acquired Norvane Labs?"
    result = await finished(researchers, results, question)
    summary, tall, *_ = ([claim["text"] for claim in result["claims"] if claim["section"] == at] for at in range(3))
    assert "29 metres" in tall[0] and not any("41 metres" in text for text in tall)
    # What answers a part best stands in the summary, not what most pages say.
    assert summary[0] == tall[0] and "Norvane Labs" in summary[1]


async def test_a_broad_topic_has_each_sentence_once(researchers: Researchers, results: dict[str, Any]) -> None:
    result = await finished(researchers, results, "听潮大桥")
    sections = [[each["text"] for each in section["sentences"]] for section in result["sections"][1:]]
    assert len(sections) > 1 and all(sections) and sum(map(len, sections)) > 4
    for place, own in enumerate(sections):
        told = {text for section in sections[:place] for text in section}
        # A section with nothing of its own has the one sentence that comes first.
        assert told.isdisjoint(own) or len(own) == 1
    assert "2.6公里" in {row["figure"] for row in result["figures"]}


def test_figures_have_their_whole_unit_and_the_time_of_day_is_none() -> None:
    texts = ["大桥全长3.1公里。", "营业时间09:00—23:00。", "The tower is 41 metres tall.", "It cost $5 million."]
    section = Section("", tuple(ReportSentence(text) for text in texts))
    assert [row["figure"] for row in figures([section])] == ["3.1公里", "41 metres", "$5 million"]


def test_a_page_with_some_of_the_words_is_no_further_source() -> None:
    pages = [
        ("Gull Point", "Next light to the south: Sallow Head, one flash every six seconds."),
        (
            "Sallow Head",
            "Sallow Head stands on a cliff south of Nether Wick. It shows one white flash every six seconds.",
        ),
        ("The lights of the bay", "Next light to the south: Sallow Head, with one flash every six seconds."),
    ]
    checker = SentenceChecker(ledger("Which light is next to the south?", *pages))
    checked = checker.check("Next light to the south: Sallow Head, one flash every six seconds [1].")
    assert checked.ids == (1, 3) and checked.origins == 1


# --- independence -----------------------------------------------------------------------------------------------------
async def test_reprints_are_one_origin(researchers: Researchers, results: dict[str, Any]) -> None:
    result = await finished(researchers, results, "Who acquired Norvane Labs?")
    sites = {source["number"]: source["site"] for source in result["sources"]}
    [joined] = [origin for origin in result["origins"] if len(origin["sources"]) > 1]
    assert joined["reason"] == "reprint" and len({sites[number] for number in joined["sources"]}) == 2
    [disagreement] = result["disagreements"]
    assert {side["says"] for side in disagreement["sides"]} == {"Osterly Systems", "Halberd Group"}
    assert all(side["origins"] == 1 and side["since"] for side in disagreement["sides"])
    assert "Where sources disagree" in result["report"]


async def test_figures_that_differ_are_a_disagreement(researchers: Researchers, results: dict[str, Any]) -> None:
    result = await finished(researchers, results, QUESTION)
    [disagreement] = result["disagreements"]
    sides = {side["says"]: side for side in disagreement["sides"]}
    assert set(sides) == {"38 metres", "41 metres"}
    assert sides["38 metres"]["since"] == "2019-03-20" and len(sides["41 metres"]["sources"]) == 2


def page(number: int, text: str, **more: str) -> PageText:
    fields = {"canonical_url": "", "title": "", "published_at": "", "site": f"s{number}", **more}
    return PageText(number, f"https://s{number}.example/a", text=text, **fields)


def test_copies_agencies_and_canonical_links_are_one_origin() -> None:
    lead = "SINGAPORE (Reuters) - The harbour of Port Ember was closed on Monday after a crane fell into the water."
    found = find_origins([
        page(1, lead + " Three ships had to wait.", title="Harbour closed", published_at="2026-01-03"),
        page(2, "A crane fell into the harbour of Port Ember, which was closed on Monday, Reuters reported.", title="Port Ember harbour closed", published_at="2026-01-02"),
        page(3, "Something quite different about bread.", canonical_url="https://s4.example/a"),
        page(4, "Bread and more of it, at length."),
        page(5, "来源：新华社。今天的天气很好，适合散步。"),
    ])  # fmt: skip
    assert [(origin.sources, origin.reason) for origin in found] == [
        ((2, 1), "agency"),
        ((4, 3), "canonical"),
        ((5,), ""),
    ]
    assert found[0].name == "Reuters"


def test_pages_that_say_the_same_under_two_addresses_are_one_source() -> None:
    both = {
        "title": "T",
        "text": "The ferry was built in 1998 in the yard.",
        "final_url": "https://a.example/x",
        "sha256": "0" * 64,
        "fetched_at": "2026-01-01",
    }
    pages = [
        {**both, "url": "https://r.example/1", "sub_questions": [0]},
        {**both, "url": "https://r.example/2", "sub_questions": [1]},
    ]
    plan = ResearchPlan(
        (SubQuestion("When was the ferry built?", ("ferry",)), SubQuestion("Where was the ferry built?", ("x",)))
    )
    ledger = build_ledger(pages, plan, 3)
    assert len(ledger.sources) == len(ledger.rows) == 1 and ledger.rows[0].sub_questions == (0, 1)


# --- later ------------------------------------------------------------------------------------------------------------
async def test_verify_finds_what_no_longer_holds(
    researchers: Researchers, results: dict[str, Any], tmp_path: Path
) -> None:
    result = await finished(researchers, results, QUESTION)
    file = tmp_path / "report.json"
    file.write_text(json.dumps(result), encoding="utf-8")
    first = next(claim for claim in result["claims"] if "38 metres" in claim["text"])
    async with researchers.client() as client:
        good = await verify(read_report(file), client)
        assert good["held"] == len(good["claims"]) and {page["state"] for page in good["pages"]} == {"same"}
        changed = json.loads(file.read_text(encoding="utf-8"))
        claim = next(claim for claim in changed["claims"] if claim["id"] == first["id"])
        claim["text"] = "The Gull Point Lighthouse is 99 metres tall and shows two white flashes every ten seconds."
        changed["claims"].append({**claim, "id": 99, "ledger": [12345]})
        bad = await verify(changed, client)
    assert {claim["id"] for claim in bad["claims"] if not claim["holds"]} == {first["id"], 99}
    with pytest.raises(SuyuanError):
        read_report(Path(__file__))


async def test_a_further_question_uses_the_ledger_first(researchers: Researchers) -> None:
    async with researchers.client() as client:
        first = await client.research("Who was the last keeper of the Gull Point Lighthouse?", depth="quick")
        asked = len(researchers.web.requests)
        found = await client.research("How tall is the Gull Point Lighthouse?", depth="quick", based_on=first.id)
        assert len(researchers.web.requests) == asked and found.result["receipts"] == []
        assert "41 metres" in found.report
        other = await client.research("Who created the Marl programming language?", depth="quick", based_on=found.id)
    assert other.result["receipts"] and any("marl" in source["url"] for source in other.sources)


async def test_a_webhook_is_told_and_only_where_it_may_be_reached(researchers: Researchers) -> None:
    bodies: list[Any] = []

    def hook(seen: Any) -> Any:
        bodies.append((seen.method, json.loads(seen.body)))
        return reply("ok")

    async with serve(hook) as site:
        pages = PageSettings(allow_hosts=("127.0.0.1",))
        async with AsyncClient(Settings(pages=pages)) as sender, researchers.client() as client:
            with pytest.raises(SuyuanError):
                await client.network.post(f"{site.url}/done", b"{}")
            service = client.research_service
            service.workers.webhook.post = sender.network.post
            job = await service.create(QUESTION, {"depth": "quick", "webhook": f"{site.url}/done"})
            await service.wait(job.id)
            # Closing waits until it is told.
            await client.close()
    assert bodies == [("POST", {"id": job.id, "state": "done"})]


async def test_a_job_that_has_ended_is_not_said_to_be_taken_by_another_worker(
    researchers: Researchers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(workers_module, "_BEAT_SECONDS", 0.01)
    async with researchers.client() as client:
        service, beaten, told = client.research_service, asyncio.Event(), asyncio.Event()
        beat = service.store.beat

        def beat_after_the_end(id: str, progress: Any = None) -> bool:
            if service.store.get(id).state == "done":
                loop.call_soon_threadsafe(beaten.set)
            return beat(id, progress)

        async def slow(*_: Any) -> None:
            # The job is stored as done while its webhook is told; a sign of life comes too late.
            await beaten.wait()
            await asyncio.sleep(0.2)
            told.set()

        loop = asyncio.get_running_loop()
        monkeypatch.setattr(service.store, "beat", beat_after_the_end)
        service.workers.webhook.post = slow
        job = await service.create(QUESTION, {"depth": "quick", "webhook": "https://hook.example/done"})
        await service.wait(job.id)
        async with asyncio.timeout(30):
            await told.wait()
        await client.close()
    assert "another worker" not in caplog.text


def test_a_job_without_a_report_has_the_same_fields() -> None:
    empty = Research("x", "failed", "q").as_dict()
    assert empty["report"] == "" and empty["ledger"] == empty["claims"] == []
