"""The engines with a JSON or Atom API: what they ask for, what they read, and the errors that their documentation names."""

from __future__ import annotations

from typing import Any

import pytest

from engines.answers import (
    ARXIV_ENTRY,
    ARXIV_FEED,
    CROSSREF_ROW,
    ISSUE,
    OPTIONS,
    STACK_ROW,
    STORY,
    URL,
    body,
    requests,
    sample,
)
from engines.exchanges import NOW, answer, failure, run, sent
from suyuan.core.engine import Engine, EngineSettings
from suyuan.core.freshness import Freshness
from suyuan.core.query import SearchQuery
from suyuan.core.result import Details
from suyuan.core.secret import Secret
from suyuan.engines import registry

KEY = "sk-0123456789"
KEYED = ("tavily", "exa", "serper", "firecrawl", "jina", "kagi", "google_cse", "serpapi")
OPEN = (
    "wikipedia", "wikidata", "openalex", "crossref", "arxiv", "pubmed", "semantic_scholar", "stackexchange", "github",
    "hackernews", "gdelt", "openlibrary", "marginalia",
)  # fmt: skip
WEEK = Freshness.parse("2025-03-01..2025-03-07")


def engine(name: str, **options: Any) -> Engine:
    key = Secret(KEY) if name in KEYED else Secret("")
    made = registry.load(name)(EngineSettings(api_key=key, options=options or OPTIONS.get(name, {})))
    assert isinstance(made, Engine)
    return made


# --- what is read -----------------------------------------------------------------------------------------------------
PAPER = Details(("Ada Pot",), "Journal of Pots", "10.1000/pots", cited_by=7)


@pytest.mark.parametrize(
    ("name", "title", "url", "snippet", "published", "details"),
    [
        ("wikipedia", "Tea pot", "https://en.wikipedia.org/wiki/Tea_pot", "A pot", None, None),
        ("wikidata", "Tea pot", "https://www.wikidata.org/wiki/Q1", "a vessel", None, None),
        ("openalex", "Tea pots", "https://doi.org/10.1000/pots", "All about pots and pots", "2025-03-04", PAPER),
        ("crossref", "Tea pots", "https://doi.org/10.1000/pots", "All about pots.", "2025-03-04",
         Details(("Ada Pot", "The Potters"), "Journal of Pots", "10.1000/pots", cited_by=7)),
        ("arxiv", "Tea pots", "https://arxiv.org/abs/2503.00001v1", "All about pots.", "2025-03-04",
         Details(("Ada Pot",), "Journal of Pots 1", "10.1000/pots", topics=("cs.CL",))),
        ("pubmed", "Tea pots.", "https://pubmed.ncbi.nlm.nih.gov/123/", "Pot A, Journal of Pots, 2025 Mar 4",
         "2025-03-04", Details(("Pot A",), "Journal of Pots", "10.1000/pots")),
        ("semantic_scholar", "Tea pots", "https://www.semanticscholar.org/paper/1", "All about pots.", "2025-03-04",
         PAPER),
        ("stackexchange", "How to use tea & pots?", "https://stackoverflow.com/questions/1/pots", "All about pots.",
         "2025-03-04",
         Details(("Ada",), "stackoverflow", score=12, comments=3, accepted=True, topics=("pots", "tea"))),
        ("github", "ada/pots", "https://github.com/ada/pots", "All about pots", "2025-03-04",
         Details(("ada",), stars=42, topics=("Python", "tea"))),
        ("hackernews", "Tea pots", URL, "Points: 12, comments: 3. https://news.ycombinator.com/item?id=99", "2025-03-04",
         Details(("ada",), "Hacker News", score=12, comments=3)),
        ("gdelt", "Tea pots", URL, "pots.example, United Kingdom", "2025-03-04", Details(venue="pots.example")),
        ("openlibrary", "Tea pots", "https://openlibrary.org/works/OL1W", "Ada Pot · 1925 · All about pots.", None,
         Details(("Ada Pot",), "Pot Press", topics=("Tea",))),
        ("ddg_news", "Tea pots", URL, "All about pots.", "2025-03-04",
         Details(venue="Pot News", image="https://pots.example/pot.jpg")),
        ("ddg_images", "Tea pots", URL, "640 × 480", None, Details(image="https://pots.example/pot.jpg")),
        ("marginalia", "Tea pots", URL, "All", None, None),
        ("tavily", "Tea pots", URL, "All about pots.", None, None),
        ("exa", "Tea pots", URL, "All about … pots", None, Details(("Ada Pot",))),
        ("serper", "Tea pots", URL, "All", None, None),
        ("firecrawl", "Tea pots", URL, "All about pots.", None, None),
        ("jina", "Tea pots", URL, "All", "2025-03-04", None),
        ("kagi", "Tea pots", URL, "All", "2025-03-04", None),
        ("google_cse", "Tea pots", URL, "All", None, None),
        ("serpapi", "Tea pots", URL, "", None, None),
    ],
)  # fmt: skip
@pytest.mark.req("T1.2", "P10.1")
def test_a_result_has_everything_that_the_api_knows(
    name: str, title: str, url: str, snippet: str, published: str | None, details: Details | None
) -> None:
    (result,) = engine(name).parse(answer(sample(name, path="esummary"))).results
    assert (result.title, result.url, result.snippet) == (title, url, snippet)
    assert (result.published_at, result.details, result.engine) == (published, details, name)


def test_details_are_published_without_what_is_not_known() -> None:
    (result,) = engine("github").parse(answer(body("github"))).results
    assert result.details is not None
    assert result.details.as_dict() == {"authors": ["ada"], "stars": 42, "topics": ["Python", "tea"]}


def test_a_question_without_an_accepted_answer() -> None:
    row = {name: value for name, value in STACK_ROW.items() if name != "accepted_answer_id"}
    details = engine("stackexchange").parse(answer({"items": [row]})).results[0].details
    assert details is not None
    assert details.accepted is False


def test_a_story_without_a_page_is_its_discussion() -> None:
    found = engine("hackernews").parse(answer({"hits": [{**STORY, "url": None, "story_text": "<p>Why?"}]}))
    assert (found.results[0].url, found.results[0].snippet) == ("https://news.ycombinator.com/item?id=99", "Why?")


def test_issues_of_github() -> None:
    github = engine("github", kind="issues")
    (result,) = github.parse(answer({"items": [ISSUE]})).results
    assert (result.title, result.details) == ("Pots leak", Details(("ada",), comments=4, topics=("bug",)))
    (request,) = requests(github, SearchQuery("pots", freshness=WEEK))
    assert "/search/issues?" in request.url and sent(request)["q"] == "pots created:2025-03-01..2025-03-07"


# --- what is asked for ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "query", "wanted"),
    [
        ("openalex", SearchQuery("pots", lang="de"), {"filter": "language:de"}),
        ("openalex", SearchQuery("pots", freshness=WEEK),
         {"filter": "from_publication_date:2025-03-01,to_publication_date:2025-03-07"}),
        ("crossref", SearchQuery("pots", freshness=WEEK), {"filter": "from-pub-date:2025-03-01,until-pub-date:2025-03-07"}),
        ("arxiv", SearchQuery('tea "pots"', freshness=WEEK),
         {"search_query": 'all:"tea" AND all:"pots" AND submittedDate:[202503010000 TO 202503072359]'}),
        ("pubmed", SearchQuery("pots", freshness=WEEK), {"mindate": "2025/03/01", "maxdate": "2025/03/07"}),
        ("semantic_scholar", SearchQuery("pots", freshness=WEEK), {"publicationDateOrYear": "2025-03-01:2025-03-07"}),
        ("stackexchange", SearchQuery("pots", freshness=WEEK), {"fromdate": "1740787200", "todate": "1741392000"}),
        ("github", SearchQuery("pots", freshness=WEEK), {"q": "pots pushed:2025-03-01..2025-03-07"}),
        ("hackernews", SearchQuery("pots", freshness=WEEK),
         {"numericFilters": "created_at_i>=1740787200,created_at_i<1741392000"}),
        ("gdelt", SearchQuery("pots", lang="de", freshness=Freshness.parse("week")),
         {"query": "pots sourcelang:german", "timespan": "1w"}),
        ("gdelt", SearchQuery("茶壶", allowed_domains=("a.example", "b.example"), blocked_domains=("c.example",)),
         {"query": "茶壶 sourcelang:chinese (domainis:a.example OR domainis:b.example) -domainis:c.example"}),
        ("gdelt", SearchQuery("pots", freshness=WEEK), {"startdatetime": "20250301000000", "enddatetime": "20250307235959"}),
        ("openlibrary", SearchQuery("pots", lang="de-AT"), {"lang": "de"}),
        ("marginalia", SearchQuery("pots", allowed_domains=("a.example",)), {"query": "pots site:a.example"}),
        ("tavily", SearchQuery("pots", freshness=Freshness.parse("week"), allowed_domains=("a.example",)),
         {"query": "pots", "time_range": "week", "include_domains": ["a.example"]}),
        ("tavily", SearchQuery("pots", freshness=WEEK, blocked_domains=("a.example",)),
         {"start_date": "2025-03-01", "end_date": "2025-03-07", "exclude_domains": ["a.example"]}),
        ("exa", SearchQuery("pots", freshness=WEEK, allowed_domains=("a.example",), country="AT"),
         {"startPublishedDate": "2025-03-01T00:00:00.000Z", "includeDomains": ["a.example"], "userLocation": "AT"}),
        ("serper", SearchQuery("pots", lang="de", country="AT", freshness=Freshness.parse("day")),
         {"q": "pots", "hl": "de", "gl": "at", "tbs": "qdr:d"}),
        ("serpapi", SearchQuery("茶壶", freshness=WEEK), {"hl": "zh-CN", "tbs": "cdr:1,cd_min:3/1/2025,cd_max:3/7/2025"}),
        ("google_cse", SearchQuery("pots", lang="de", freshness=Freshness.parse("year")),
         {"cx": "0123:abc", "lr": "lang_de", "dateRestrict": "y1"}),
        ("google_cse", SearchQuery("pots", freshness=WEEK), {"sort": "date:r:20250301:20250307"}),
        ("kagi", SearchQuery("pots", country="AT", freshness=WEEK),
         {"filters": {"after": "2025-03-01", "before": "2025-03-07", "region": "at"}}),
        ("firecrawl", SearchQuery("pots", country="AT", freshness=Freshness.parse("week")),
         {"tbs": "qdr:w", "country": "AT"}),
        ("jina", SearchQuery("pots", lang="de", country="AT"), {"q": "pots", "hl": "de", "gl": "at"}),
    ],
)  # fmt: skip
@pytest.mark.req("P3.1")
def test_parameters_are_named_as_the_api_documents_them(name: str, query: SearchQuery, wanted: dict[str, Any]) -> None:
    found = sent(requests(engine(name), query)[0])
    assert {key: found.get(key) for key in wanted} == wanted


@pytest.mark.parametrize(
    ("query", "site"),
    [
        (SearchQuery("pots"), "https://en.wikipedia.org"),
        (SearchQuery("茶壶"), "https://zh.wikipedia.org"),
        (SearchQuery("pots", lang="de-AT"), "https://de.wikipedia.org"),
        (SearchQuery("pots", lang="tlh"), "https://en.wikipedia.org"),
    ],
)
@pytest.mark.req("P9.1")
def test_wikipedia_is_searched_in_the_language_of_the_query(query: SearchQuery, site: str) -> None:
    wikipedia = engine("wikipedia")
    (request,) = requests(wikipedia, query)
    assert request.url.startswith(f"{site}/w/api.php?")
    found = wikipedia.parse(answer(body("wikipedia"), url=request.url)).results
    assert found[0].url == f"{site}/wiki/Tea_pot"


def test_another_wiki_can_be_configured() -> None:
    made = registry.load("wikipedia")(EngineSettings(base_url="http://127.0.0.1:9"))
    assert isinstance(made, Engine)
    assert requests(made, SearchQuery("茶壶"))[0].url.startswith("http://127.0.0.1:9/")


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.req("P9.3", "G1.2")
def test_a_key_is_sent_and_never_shown(name: str) -> None:
    request = requests(engine(name), SearchQuery("pots"))[0]
    assert KEY in request.sent_url() + " ".join(request.sent_headers().values())
    assert KEY not in f"{request!r} {request.url}"


@pytest.mark.parametrize(
    ("name", "where"), [("openalex", "api_key="), ("stackexchange", "key="), ("github", ""), ("semantic_scholar", "")]
)
def test_an_optional_key_is_sent(name: str, where: str) -> None:
    made = registry.load(name)(EngineSettings(api_key=Secret(KEY)))
    assert isinstance(made, Engine)
    request = requests(made, SearchQuery("pots"))[0]
    assert f"{where}{KEY}" in request.sent_url() + " ".join(request.sent_headers().values())
    assert KEY not in f"{request!r}"


def test_google_needs_the_id_of_a_search_engine() -> None:
    made = registry.load("google_cse")(EngineSettings(api_key=Secret(KEY)))
    assert isinstance(made, Engine)
    assert not made.configured
    with pytest.raises(Exception, match="web.providers.google_cse.cx"):
        requests(made, SearchQuery("pots"))


# --- documented errors ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "status", "data", "detail", "said"),
    [
        ("tavily", 401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}, "key_rejected", "invalid API"),
        ("tavily", 432, {"detail": {"error": "This request exceeds your plan's set usage limit."}}, "quota_spent", "plan"),
        ("tavily", 433, {"detail": {"error": "This request exceeds the pay-as-you-go limit."}}, "quota_spent", "pay"),
        ("tavily", 400, {"detail": {"error": "Query is too long."}}, "api_error", "too long"),
        ("exa", 401, {"error": "Invalid API key", "tag": "INVALID_API_KEY"}, "key_rejected", "Invalid"),
        ("exa", 402, {"error": "Out of credits", "tag": "NO_MORE_CREDITS"}, "quota_spent", "credits"),
        ("serper", 403, {"message": "Unauthorized.", "statusCode": 403}, "key_rejected", "Unauthorized"),
        ("serper", 400, {"message": "Not enough credits", "statusCode": 400}, "quota_spent", "credits"),
        ("firecrawl", 402, {"success": False, "error": "Insufficient credits."}, "quota_spent", "Insufficient"),
        ("firecrawl", 401, {"success": False, "error": "Unauthorized: Invalid token"}, "key_rejected", "token"),
        ("firecrawl", 200, {"success": False, "error": "Search failed"}, "api_error", "failed"),
        ("jina", 401, {"code": 401, "readableMessage": "AuthenticationFailedError: bad key"}, "key_rejected", "bad key"),
        ("jina", 402, {"code": 402, "readableMessage": "InsufficientBalanceError: empty"}, "quota_spent", "empty"),
        ("kagi", 401, {"error": [{"code": 2, "msg": "Unauthorized"}]}, "key_rejected", "Unauthorized"),
        ("kagi", 402, {"errors": [{"message": "Insufficient credit"}]}, "quota_spent", "credit"),
        ("google_cse", 400, {"error": {"code": 400, "message": "API key not valid."}}, "key_rejected", "not valid"),
        ("google_cse", 429, {"error": {"message": "Quota exceeded for quota metric 'Queries' and limit 'Queries per day'"}},
         "quota_spent", "per day"),
        ("serpapi", 401, {"error": "Invalid API key."}, "key_rejected", "Invalid"),
        ("serpapi", 429, {"error": "Your account has run out of searches."}, "quota_spent", "run out"),
        ("serpapi", 200, {"search_metadata": {"status": "Error"}, "error": "Proxy timeout"}, "api_error", "Proxy"),
        ("openalex", 400, {"error": "Invalid filter", "message": "Unknown filter field: x"}, "api_error", "Invalid filter"),
        ("openalex", 403, {"error": "Rate limit exceeded"}, "http_429", ""),
        ("kagi", 401, {"error": [{"code": "auth.invalid", "url": "u", "message": "Bad token"}]}, "key_rejected", "Bad"),
        ("openalex", 429, {"error": "Rate limit exceeded", "message": "Daily limit exceeded"}, "quota_spent", "limit"),
        ("crossref", 400, {"status": "failed", "message": [{"type": "x", "message": "Filter wrong"}]}, "api_error", "Filter"),
        ("wikipedia", 200, {"error": {"code": "nosrsearch", "info": "No search text"}}, "api_error", "No search"),
        ("wikidata", 200, {"error": {"code": "param-missing", "info": "No language"}}, "api_error", "language"),
        ("stackexchange", 400, {"error_id": 502, "error_message": "too many requests, more available in 45 seconds"},
         "http_429", ""),
        ("stackexchange", 400, {"error_id": 400, "error_message": "site is required"}, "api_error", "site"),
        ("github", 422, {"message": "Validation Failed", "errors": []}, "api_error", "Validation"),
        ("semantic_scholar", 400, {"error": "Unsupported field"}, "api_error", "Unsupported"),
        ("pubmed", 429, {"error": "API rate limit exceeded", "count": "4"}, "http_429", ""),
    ],
)  # fmt: skip
@pytest.mark.req("T7.1", "T7.2")
def test_errors_as_they_are_documented(name: str, status: int, data: dict[str, Any], detail: str, said: str) -> None:
    error = failure(engine(name), answer(data, status))
    assert error.detail_code == detail
    assert said in error.message
    assert error.hint and error.engine == name


@pytest.mark.parametrize("name", (*KEYED, *OPEN))
@pytest.mark.req("T7.2")
def test_too_many_requests_and_when_to_come_back(name: str) -> None:
    error = failure(engine(name), answer({"message": "slow down"}, 429, retry_after="45"))
    assert (error.detail_code, error.retry_after) == ("http_429", 45.0)


def test_other_ways_to_say_when_to_come_back() -> None:
    data = {"error_id": 502, "error_message": "too many requests from this IP, more requests available in 45 seconds"}
    assert failure(engine("stackexchange"), answer(data, 400)).retry_after == 45.0
    reset = {"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(int(NOW.timestamp()) + 30)}
    error = failure(engine("github"), answer({"message": "API rate limit exceeded"}, 403, **reset))
    assert (error.detail_code, error.retry_after) == ("http_429", 30.0)
    assert failure(engine("github"), answer({"message": "Forbidden"}, 403)).detail_code == "http_403"


def test_what_nothing_found_looks_like() -> None:
    nothing = answer({"code": 422, "readableMessage": "No search results available for query tea"}, 422)
    assert engine("jina").parse(nothing).results == ()
    assert failure(engine("jina"), answer({"readableMessage": "q is missing"}, 422)).detail_code == "api_error"
    assert failure(engine("gdelt"), answer("Your query was too short or too long.\n")).message.count("too short")
    entry = "<entry><id>http://arxiv.org/api/errors#x</id><title>Error</title><summary>bad query</summary></entry>"
    assert "bad query" in failure(engine("arxiv"), answer(ARXIV_FEED.format(entries=entry), 400)).message


@pytest.mark.parametrize(("parts", "day"), [([1850, 5, 1], "1850-05-01"), ([0, 1, 1], None), ([2024, 13, 1], None)])
def test_crossref_gives_days_that_there_are(parts: list[int], day: str | None) -> None:
    row = CROSSREF_ROW | {"published": {"date-parts": [parts]}}
    found = engine("crossref").parse(answer({"message": {"items": [row]}})).results
    assert [result.published_at for result in found] == [day]


def test_a_feed_none_of_whose_entries_has_an_address_cannot_be_read() -> None:
    entry = ARXIV_ENTRY.replace("http://arxiv.org/abs/", "urn:")
    assert failure(engine("arxiv"), answer(ARXIV_FEED.format(entries=entry))).detail_code == "layout_changed"


def test_a_feed_with_entities_is_refused() -> None:
    bomb = '<!DOCTYPE feed [<!ENTITY a "aaaa">]>' + ARXIV_FEED.format(entries="").partition("?>")[2]
    for feed in (bomb, bomb.encode("utf-16")):
        assert failure(engine("arxiv"), answer(feed)).detail_code == "layout_changed"


def test_pubmed_asks_for_no_summaries_of_nothing() -> None:
    done = run(engine("pubmed"), "tea", answer({"esearchresult": {"idlist": []}}))
    assert (len(done.requests), done.found.results) == (1, ())


def test_files_that_belong_to_papers_are_no_results() -> None:
    rows = [
        {"type": "component", "DOI": "10.1000/pots.t1"},
        {"type": "journal-article", "DOI": "10.1000/pots", "title": ["Pots"]},
    ]
    assert [result.title for result in engine("crossref").parse(answer({"message": {"items": rows}})).results] == [
        "Pots"
    ]
    assert engine("crossref").parse(answer({"message": {"items": rows[:1]}})).results == ()


# --- DuckDuckGo's news and pictures -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "token", ['vqd="4-123456789"', "vqd=4-123456789&l=us", '{"vqd":"4-123456789"}', "vqd='4-123456789'"]
)
def test_the_token_of_the_page_is_sent_for_the_list(token: str) -> None:
    query = SearchQuery("tea pots", lang="de", freshness="week", page=2, safe=2)  # type: ignore[arg-type]
    done = run(engine("ddg_news"), query, answer(f"<script>{token}</script>"), answer({"results": []}))
    params = sent(done.requests[1])
    assert done.requests[1].url.startswith("https://duckduckgo.com/news.js?")
    wanted = {"vqd": "4-123456789", "q": "tea pots", "l": "de-de", "df": "w", "s": "30", "p": "1"}
    assert {name: params[name] for name in wanted} == wanted
    pictures = run(engine("ddg_images"), query, answer(token), answer({"results": []}))
    assert sent(pictures.requests[1])["f"] == "time:Week,,,,,"


def test_a_page_without_a_token_is_not_an_empty_list() -> None:
    assert (
        run(engine("ddg_news"), "tea", answer("<html><body>Hello</body></html>")).error.detail_code == "layout_changed"
    )
