"""Words, stems and tokens."""

from __future__ import annotations

from suyuan.text.words import count_cjk, count_tokens, stem, stems, words


def test_words_and_tokens() -> None:
    assert words("Teapots' Cities, 2026") == ["teapot", "city", "2026"]
    assert words("茶壶店") == ["茶", "壶", "店", "茶壶", "壶店"]
    assert count_tokens("茶壶") == 2 and count_tokens("abcdef") == 2


def test_possessives_and_plurals_are_cut_off() -> None:
    assert words("Ann's Ann’s glass classes") == ["ann", "ann", "glass", "classe"]


def test_stems_compare_forms_of_a_word() -> None:
    assert stem("founded") == stem("founding") == stem("founder") == "found"
    assert stems("The founders, 建于2018") == ["the", "found", "建", "于", "建于", "2018"]


def test_characters_of_the_east_are_counted() -> None:
    assert count_cjk("茶 tea かな 한글") == 5 and count_cjk("tea") == 0
