"""Two sentences conflict where they say different things about the same, and only there."""

from __future__ import annotations

import time

import pytest

from suyuan.text.conflicts import conflicts, disagreement

CERTAIN = [
    ("Instagram was acquired by Apple in 2012.", "Instagram was acquired by Facebook in 2012.", "name", "Apple", "Facebook"),
    ("The bridge is 36 km long and opened in 2018.", "The bridge is 55 km long and opened in 2018.", "number", "36", "55"),
    ("It opened to traffic on 25 October 2018.", "It opened to traffic on 24 October 2018.", "date",
     "25 October 2018", "24 October 2018"),
    ("The water of the lake is not safe to drink.", "The water of the lake is safe to drink.", "negation", "not safe", "safe"),
    ("The former minister was convicted by the court in May.", "The former minister was acquitted by the court in May.",
     "opposite", "convicted", "acquitted"),
    ("广州恒大在决赛中击败了首尔队。", "江苏苏宁在决赛中击败了首尔队。", "name", "广州恒大", "江苏苏宁"),
    ("也许特朗普赢得总统职位的最大原因是经济。", "也许拜登赢得总统职位的最大原因是经济。", "name", "特朗普", "拜登"),
    ("现年57岁的林郑月娥获得689张有效票当选。", "现年57岁的梁振英获得689张有效票当选。", "name", "林郑月娥", "梁振英"),
    ("大桥总投资约1269万元人民币。", "大桥总投资约1269亿元人民币。", "number", "1269万", "1269亿"),
    ("会议于24日在北京开幕，为期三天。", "会议于25日在北京开幕，为期三天。", "date", "24日", "25日"),
    ("该桥允许自行车和行人通行。", "该桥不允许自行车和行人通行。", "negation", "允许", "不允许"),
    ("沪指收盘上涨3.2%，创年内新高。", "沪指收盘下跌3.2%，创年内新高。", "opposite", "上涨", "下跌"),
    ("她以资格赛最低成绩晋级决赛。", "她以资格赛最高成绩晋级决赛。", "opposite", "最低", "最高"),
    ("太平島由中華民國政府實際控制三年。", "太平岛由菲律宾政府实际控制三年。", "name", "中華民國政府", "菲律宾政府"),
]  # fmt: skip

EXCHANGED = [
    ("大久保笃", "越南革命家潘佩珠"),
    ("拔都", "一位牧师"),
    ("乙一", "松本零士"),
    ("二十位作者", "白蒿"),
    ("法国人", "顾远山"),
]

NONE = [
    ("In Rome, Germany beat Brazil by two goals.", "Germany beat Brazil by two goals in Rome."),
    ("Germany, France and Italy signed it in May.", "France, Germany and Italy signed it in May."),
    ("Instagram was acquired by Facebook in May.", "Facebook acquired Instagram in May."),
    ("The ferry carries at least 40 cars.", "The ferry carries 40 cars."),
    ("The ferry carries no more than 40 cars.", "The ferry carries 38 cars."),
    ("每车不超过5人，全程票价20元。", "每车4人，全程票价20元。"),
    ("公司对这批车辆实施了全面检查，没有发现问题。", "公司对这批车辆进行了全面检查，没有发现问题。"),
    ("该集团于法律之外的灰色地带营运[50][51]。", "该集团于法律之外的灰色地带营运[48][49]。"),
    ("当前这支球队给予他的帮助十分有限。", "同时，目前这支球队给予他的帮助十分有限。"),
    ("The bridge carries more than 5 lanes of traffic.", "The bridge carries 6 lanes of traffic."),
    ("The film earned about 3.5 million dollars in May.", "The film earned 3,498,000 dollars in May."),
    ("He was born before 1967 in Ohio.", "He was born in 1965 in Ohio."),
    ("It opened in October 2018 near Macau.", "It opened on 24 October 2018 near Macau."),
    ("The US signed the treaty in Paris.", "The United States signed the treaty in Paris."),
    ("Obama signed the law in March.", "Barack Obama signed the law in March."),
    ("The treaty was signed by Canadian officials in Rome.", "The treaty was signed by Canada officials in Rome."),
    ("He did not sign the contract in 2018.", "He signed the contract in 2014."),
    ("The drug is not harmful to children under five.", "The drug is harmless to children under five."),
    ("There is no evidence that the drug is safe for children.", "The drug is not safe for children."),
    ("She won the race; her brother was third.", "Cats sleep most of the day."),
    ("李克强与土耳其总统举行了会谈。", "国务院总理李克强与土耳其总统举行了会谈。"),
    ("北大的研究人员发表了这篇论文。", "北京大学的研究人员发表了这篇论文。"),
    ("新华社北京5月1日电 大桥全长55公里。", "中新社香港5月2日电 大桥全长55公里。"),
    ("臺灣的大橋全長55公里。", "台湾的大桥全长55公里。"),
    ("跌幅超过3%的个股有20只。", "跌幅为3.5%的个股有20只。"),
    ("", ""),
    ("x", "。"),
]


@pytest.mark.parametrize(("ours", "theirs", "kind", "said", "other"), CERTAIN)
def test_what_conflicts_is_found_with_both_spans(ours: str, theirs: str, kind: str, said: str, other: str) -> None:
    for a, b, mine, their in ((ours, theirs, said, other), (theirs, ours, other, said)):
        found = conflicts(a, b)
        assert found is not None and found.is_certain and found.kind == kind
        assert (found.ours.text, found.theirs.text) == (mine, their)
        assert a[found.ours.start : found.ours.end] == mine and b[found.theirs.start : found.theirs.end] == their


@pytest.mark.parametrize(("ours", "theirs"), NONE)
def test_what_agrees_or_is_about_something_else_does_not_conflict(ours: str, theirs: str) -> None:
    for a, b in ((ours, theirs), (theirs, ours)):
        found = conflicts(a, b)
        assert found is None or not found.is_certain


@pytest.mark.parametrize(("said", "other"), EXCHANGED)
def test_whatever_stands_in_the_place_of_another_thing_is_a_conflict(said: str, other: str) -> None:
    """The segmenter need not know the names, nor cut both in the same way."""
    place = "《雾港纪事》是一部长篇小说，由{}于战后写成，全书共分三卷。"
    found = conflicts(place.format(said), place.format(other))
    assert found is not None and found.is_certain
    assert said in found.ours.text and other in found.theirs.text


def test_words_in_the_place_of_others_take_the_support_away_and_say_no_more() -> None:
    found = conflicts("水库由当地村民集资捣毁，历时三年。", "水库由当地村民集资兴修，历时三年。")
    assert found is not None and not found.is_certain
    found = conflicts("他在中学三年级以前担任学校乐队的队长。", "他在中学三年级开始担任学校乐队的队长。")
    assert found is not None and not found.is_certain


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Germany beat Brazil in the final in Rome.", "Brazil beat Germany in the final in Rome."),
        ("该剧由作曲家艾略特依据韦伯的诗集编写。", "该剧由作曲家韦伯依据艾略特的诗集编写。"),
        ("The ferry carries more than 40 cars.", "The ferry carries 40 cars."),
        ("这种棋的人数须大于两位。", "这种棋的人数为两位。"),
    ],
)
def test_exchanged_names_and_limits_take_the_support_away(claim: str, source: str) -> None:
    found = conflicts(claim, source)
    assert found is not None and not found.is_certain


@pytest.mark.parametrize("sentence", [sentence for pair in CERTAIN for sentence in pair[:2]])
def test_a_sentence_does_not_conflict_with_itself(sentence: str) -> None:
    assert conflicts(sentence, sentence) is None and conflicts(sentence, f"据悉，{sentence}") is None


def test_sources_disagree_only_about_one_thing() -> None:
    first = "全国铁路、公路、水路、民航1月7日共发送旅客3473.6万人次。"
    assert disagreement(first, first.replace("3473.6万", "2904.2万"))
    assert disagreement(first, first.replace("3473.6万", "2904.2万").replace("1月7日", "1月24日")) is None
    assert disagreement("Apple bought it.", "Facebook bought it in a deal that surprised many people.") is None


def test_the_cost_is_bounded() -> None:
    started = time.process_time()
    assert conflicts("苹果 公司 " * 20_000, "脸书 公司 " * 20_000) is None
    conflicts("not a b " * 70, "b a not " * 70)
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("云汀地铁1号线的末班车时间是23:10，周五延长。", "临荷地铁1号线的末班车时间是22:30。"),
        ("A ticket for the Wick ferry costs 4 crowns.", "A ticket for the Port Ember ferry costs 6 crowns."),
    ],
)
def test_sentences_that_begin_with_different_things_do_not_disagree(a: str, b: str) -> None:
    assert disagreement(a, b) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "The new school in the old town was built by Carl Meyer and has twelve rooms.",
            "A small harbour was built by Peter Holm at the mouth of the river for fishing boats.",
        ),
        (
            "新的图书馆由王明设计，去年在市中心开放，共有五层。",
            "河边的体育馆由李强设计，可以容纳两万名观众，冬天也开放。",
        ),
    ],
)
def test_sentences_about_different_things_do_not_conflict(first: str, second: str) -> None:
    assert conflicts(first, second) is None
