"""The language of a query and of a page."""

from __future__ import annotations

import pytest

from suyuan.text.language import chinese_variant, detect_language, script_language


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("hello", ""), ("naïve café", ""), ("你好 world", "zh"), ("お寿司", "ja"), ("漢字とかな", "ja"),
        ("안녕", "ko"), ("привет", "ru"), ("😀", ""),
    ],
)  # fmt: skip
def test_the_script_tells_the_language(text: str, lang: str) -> None:
    assert script_language(text) == lang


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("这是一个关于港口历史的网页，我们会说明它来自哪里。", "zh-CN"),
        ("這是一個關於港口歷史的網頁，我們會說明它來自哪裡。", "zh-TW"),
        ("これは港の歴史についてのページです。どこから来たのかを説明します。", "ja"),
        ("The history of the harbour is told in this book.", "en"),
        ("Die Geschichte der Stadt ist nicht von gestern und sie ist lang.", "de"),
        ("Это страница об истории порта и города.", "ru"),
        ("x", ""),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("台北天氣", "zh-TW"),  # 台 and 后 are in both sets
        ("皇后區", "zh-TW"),
        ("体检报告", "zh-CN"),
        ("體檢報告", "zh-TW"),
        ("台湾旅游 Тайвань タイ", "zh-CN"),
        ("中文", ""),
        ("Taiwan", ""),
    ],
)
def test_characters_of_one_set_only_tell_the_variant_of_chinese(text: str, variant: str) -> None:
    assert chinese_variant(text) == variant
