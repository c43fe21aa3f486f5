"""Which sentences are quoted together, and that a page may be about anything."""

from __future__ import annotations

import pytest

from suyuan.citations.registry import Source
from suyuan.embedded.answer_form import wanted_form
from suyuan.embedded.answer_type import answer_type
from suyuan.embedded.evidence import Evidence, announces, refers_back
from suyuan.embedded.quote import Quote, Sentence, join_neighbours
from suyuan.embedded.quotes import pick_quotes
from suyuan.embedded.responder import Responder
from suyuan.embedded.turn_input import TurnInput
from suyuan.text.language import script_language
from suyuan.text.sentences import split_sentences


def answer(question: str, *texts: str, title: str = "") -> str:
    turn = TurnInput(question)
    turn.add_search(question, [Source(n, title, f"https://e.example/{n}", text) for n, text in enumerate(texts, 1)])
    return "".join(Responder().respond(turn))


# --- a page may be about anything ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("Who created JavaScript?", "JavaScript was created by Brendan Eich in 1995.", "Brendan Eich"),
        ("What is a cookie?", "A cookie is a small piece of data that a server sends to a browser.", "piece of data"),
        ("什么是版权？", "版权是作者对作品享有的权利。", "作者对作品享有的权利"),
        ("域名注册由谁管理？", "域名注册由互联网名称与数字地址分配机构管理。", "分配机构"),
        ("第一条电视广告播出于哪一年？", "第一条电视广告于1941年播出。", "1941年"),
        ("What is a newsletter?", "A newsletter is a printed report sent to the members of a group.", "printed report"),
    ],
)
def test_a_page_may_be_about_what_stands_in_the_margins_of_others(question: str, text: str, told: str) -> None:
    assert told in answer(question, text)


@pytest.mark.parametrize(
    "junk",
    [
        "Please enable JavaScript to read who created JavaScript.",
        "Subscribe to our newsletter about the JavaScript language.",
        "请登录后查看版权的定义。",
        "版权所有，未经授权禁止转载版权内容。",
        "This page uses cookies, and a cookie of your browser is needed.",
    ],
)
def test_what_stands_in_the_margins_is_not_quoted(junk: str) -> None:
    assert pick_quotes("Who created JavaScript?" if junk.isascii() else "什么是版权？", [Evidence(1, "", junk)]) == ()


def test_a_note_of_the_margin_is_cut_off_from_the_sentence_that_it_has_got_into() -> None:
    page = "用微信扫码二维码 分享至好友和朋友圈 云汀号渡轮于2019年5月首航，全长86米 责任编辑：余航 版权所有：云汀日报"
    assert answer("云汀号渡轮何时首航？", page) == "云汀号渡轮于2019年5月首航，全长86米[1]"
    assert "商标" in answer("云汀公司申请注册了什么？", "云汀公司已申请注册数百枚商标，最早的在2015年。")


def test_a_japanese_name_does_not_make_a_chinese_sentence_japanese() -> None:
    said = "《卡美拉》（原名：ガメラ）是1995年上映的日本怪兽电影。"
    assert script_language(said) == "zh" and script_language("東京タワーの高さは是非") == "ja"
    assert "1995年" in answer("《卡美拉》在哪一年上映？", said, "《卡美拉》讲述大怪兽的故事，《卡美拉》深受欢迎。")
    assert answer("《ガメラ》是哪一年上映的？", "茶叶产于南方。").startswith("这些来源里没有")


def test_traditional_and_simplified_characters_are_the_same_words() -> None:
    assert "1638年" in answer("这座教堂的修建时间是什么时候？", "這座教堂於1638年開始修建。教堂附近有廣場。")


def test_an_abbreviation_between_chinese_characters_ends_no_sentence() -> None:
    assert len(split_sentences("两旁摆着圣若望及St. Felix的雕像。")) == 1


# --- what is quoted together ---------------------------------------------------------------------------------------

DUCK = (
    "浮龙是沧龙科的一属，生存于白垩纪晚期。在沧龙类中，浮龙具有数个独有特征。牠们的鳍状肢狭窄、尾鳍大。化石发现于加州。"
)


@pytest.mark.req("C4.1")
def test_sentences_side_by_side_are_one_passage_and_each_has_its_number() -> None:
    told = answer("浮龙有哪些特征？", DUCK)
    assert "浮龙具有数个独有特征[1]。牠们的鳍状肢狭窄、尾鳍大[1]。" in told


def test_a_sentence_that_closes_a_gap_makes_one_passage_of_three() -> None:
    quotes = [Quote(text, (1,), 0.0, sentences=(Sentence(text, (1,), (1, 0, at)),)) for text, at in
              (("One.", 0), ("Three.", 2), ("Else.", 7), ("Two.", 1))]  # fmt: skip
    assert [quote.written for quote in join_neighbours(quotes)] == ["One[1]. Two[1]. Three[1].", "Else[1]."]


def test_sentences_of_different_paragraphs_or_sources_stay_apart() -> None:
    quotes = [
        Quote(text, (place[0],), 0.0, sentences=(Sentence(text, (place[0],), place),))
        for text, place in (("One.", (1, 0, 0)), ("Two.", (1, 1, 1)), ("Three.", (2, 0, 1)))
    ]
    assert join_neighbours(quotes) == tuple(quotes)


def test_the_sentence_before_is_cited_only_with_its_own_source() -> None:
    first = "The Eiffel Tower stands in Paris. It was completed in 1889 for the World Fair."
    told = answer("When was it completed for the World Fair?", first, "It was completed in 1889 for the World Fair.")
    assert told.startswith("The Eiffel Tower stands in Paris[1]. It was completed in 1889 for the World Fair[1][2].")


def test_a_time_or_a_reason_that_stands_in_the_sentence_before_is_quoted_too() -> None:
    told = answer("占旭刚什么时候结束运动生涯？", "2004年，占旭刚第三次参加奥运会。赛场之外，占旭刚结束运动生涯。")
    assert told == "2004年，占旭刚第三次参加奥运会[1]。赛场之外，占旭刚结束运动生涯[1]。"
    assert not answer_type("Who founded Acme?").is_left_out("Acme grew.", "Ann Lee founded it.")


@pytest.mark.parametrize(
    "text", ["这种病有多种原因。", "There are three main reasons.", "印度野驴与非洲野驴有些分别。"]
)
def test_a_sentence_may_only_announce_what_follows(text: str) -> None:
    assert announces(text)
    assert not announces("学校有两个校区，其中新民校区为初中部。") and not announces(
        "There are three reasons in all texts."
    )


@pytest.mark.parametrize(
    "text", ["在此背景下，各方达成协议。", "指在分娩过程中的栓塞。", "相反意见认为不同。", "It grew."]
)
def test_sentences_that_cannot_stand_alone(text: str) -> None:
    assert refers_back(text)


# --- the question --------------------------------------------------------------------------------------------------


def test_two_titles_of_one_person_are_no_table() -> None:
    told = answer(
        "夏尔什么时候开始担任卡斯特罗公爵、波旁王室族长？",
        "夏尔2008年起担任卡斯特罗公爵、波旁王室族长。1966年，祖父将卡斯特罗公爵的头衔让给长子。",
    )
    assert "2008年" in told and "|" not in told


def test_in_which_year_asks_for_a_time_and_no_place() -> None:
    assert answer_type("这部电影在哪一年上映？").kinds == ("time",)
    assert answer_type("这座桥在哪？").kinds == ("place",)
    assert wanted_form("《天才基本法》的主演是谁？", "auto") == "list"


def test_a_sentence_that_says_now_is_not_older_than_one_with_a_year() -> None:
    told = answer("目前学校有几个校区？", "现学校有两个校区。东盟校区于2013年秋季招收首届学生202个。")
    assert "两个校区" in told.splitlines()[0] and "截至" not in told


# --- headings, tables, years and other things ------------------------------------------------------------------------

WINNERS = (
    "# Ember Regatta: winners\n\n| Year | Boat | Skipper |\n|---|---|---|\n| 2026 | Kittiwake | Noor Haddad |\n"
    "| 2025 | Blue Heron | Pavel Rusk |\n| 2024 | Sprat | Mina Okoro |\n\n"
    "The Ember Regatta is sailed every year around Brandle Island and back."
)


def test_a_heading_is_no_answer_but_says_what_the_rows_below_it_are_about() -> None:
    told = answer("Who won the Ember Regatta in 2025?", WINNERS, title="Ember Regatta: winners")
    assert told.removeprefix("- ").startswith("Year: 2025; Boat: Blue Heron; Skipper: Pavel Rusk[1]")
    assert "winners" not in told and "2026" not in told


def test_a_list_may_be_the_table_of_a_source() -> None:
    told = answer("List the winners of the Ember Regatta", WINNERS).splitlines()
    assert told[0] == "| Year | Boat | Skipper |" and len(told) == 5
    table = (
        "| Tablet | Weight | Price |\n|---|---|---|\n| Folio S | 318 g | 465 crowns |\n| Quill 3 | 342 g | 420 crowns |"
    )
    assert answer("Compare the Folio S and the Quill 3", table).count("\n") == 3
    # No column has what is asked for.
    assert not answer("Who designed the Folio S and the Quill 3?", table).startswith("|")


def test_a_sentence_about_another_thing_is_not_added_to_a_fact() -> None:
    told = answer(
        "Who created the Marl programming language?",
        "The Marl programming language was created by Petra Lindqvist in 2011.",
        "The Loam programming language was created by Viktor Amsel in 2016, for his pupils at a school.",
    )
    assert told == "The Marl programming language was created by Petra Lindqvist in 2011[1]."


@pytest.mark.req("C4.1")
@pytest.mark.parametrize(
    ("question", "no", "yes"),
    [
        ("Is Selmarin safe for cookware?", "Selmarin is not safe for cookware.",
         "Selmarin is safe for cookware: in two years of tests we found no harm."),
        ("蓝晶胶对人体安全吗？", "蓝晶胶对人体是不安全的。", "蓝晶胶对人体是安全的：我们没有发现任何不良反应。"),
    ],
)  # fmt: skip
def test_what_stands_after_a_colon_does_not_hide_a_contradiction(question: str, no: str, yes: str) -> None:
    told = answer(question, no, yes)
    assert told.startswith(("Sources disagree", "来源说法不一")) and "[1][2]" not in told


def test_a_price_and_a_weight_are_recognised() -> None:
    text = (
        "The Quill 3 was tested for six weeks. The Quill 3 weighs 340 grams. The Quill 3 costs 420 crowns with its pen."
    )
    assert "420 crowns" in answer("What does the Quill 3 cost?", text).splitlines()[0]
    assert "340 grams" in answer("How heavy is the Quill 3?", text).splitlines()[0]
