"""The language of a text, by its script and by its most frequent words."""

from __future__ import annotations

import re
from collections import Counter
from string import ascii_letters

from .scripts import HAN

# The first that occurs decides: kana before Han, since Japanese uses both. Compiled when they are first needed.
_SCRIPTS = {
    "ja": "[\u3040-\u30ff]",
    "ko": "[\uac00-\ud7af]",
    "zh": f"[{HAN}]",
    "ru": "[\u0400-\u04ff]",
    "ar": "[\u0600-\u06ff]",
    "he": "[\u0590-\u05ff]",
    "el": "[\u0370-\u03ff]",
    "th": "[\u0e00-\u0e7f]",
    "hi": "[\u0900-\u097f]",
}
# Of the letters of a text; Japanese is mostly Han, Chinese has many Latin names.
_MIN_SHARE = {"ja": 0.1, "zh": 0.3}
# Words of Chinese that Japanese writes otherwise: a text with them and a Japanese name in it is Chinese.
_CHINESE_WORD = re.compile("[是了吗呢哪这么谁什怎们]")
_NAME_SHARE = 0.35
_FREQUENT_WORDS = {
    language: frozenset(frequent.split())
    for language, frequent in {
        "en": "the of and to in is that for it with as was on are this be by",
        "de": "der die und das ist nicht von mit den für auf ein eine dem zu sich",
        "fr": "le la les des et est que dans une pour qui sur pas au avec",
        "es": "el la los las que de y en un una por con para es del",
        "pt": "o os que de e em um uma para com não do da no na",
        "it": "il lo gli che di e un una per con non della del sono",
        "nl": "de het een van en is dat op te in niet met voor zijn",
        "pl": "i w na z że się do nie to jest jak po za od",
    }.items()
}
_USUAL_MIN_SHARE = 0.4
_MIN_FREQUENT = 0.08
"""The share of frequent words in a text of a language."""
_MIN_LETTERS = 20
_SAMPLE = 4000
_ASCII_LETTERS = ascii_letters.encode()


def script_language(text: str) -> str:
    """Return the language that the script of ``text`` stands for; empty for the Latin script, which many share."""
    if text.isascii():
        return ""
    language = next((language for language, script in _SCRIPTS.items() if re.search(script, text)), "")
    if language != "ja" or not _CHINESE_WORD.search(text):
        return language
    letters = sum(map(str.isalpha, text))
    kana = len(re.findall(_SCRIPTS["ja"], text))
    return "zh" if kana < _NAME_SHARE * letters else "ja"


def detect_language(text: str) -> str:
    """Return the language of ``text``, for Chinese with its region; empty where it is not certain."""
    sample = text[:_SAMPLE]
    letters = _count_letters(sample)
    if letters < _MIN_LETTERS:
        return ""
    language = "" if sample.isascii() else _language_of_script(sample, letters)
    if language == "zh":
        return chinese_variant(sample) or "zh-CN"
    if language:
        return language
    words = sample.lower().split()
    counts = _counts(words)
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] > len(words) * _MIN_FREQUENT else ""


def _language_of_script(text: str, letters: int) -> str:
    """Return the language whose script has enough of the letters of ``text``."""
    for language, script in _SCRIPTS.items():
        if len(re.findall(script, text)) > letters * _MIN_SHARE.get(language, _USUAL_MIN_SHARE):
            return language
    return ""


def frequent_languages(text: str) -> frozenset[str]:
    """Return the languages of the Latin script that most frequent words of a short ``text`` belong to."""
    counts = _counts(text.lower().split())
    most = max(counts.values())
    if not most:
        return frozenset()
    return frozenset(language for language, count in counts.items() if count == most)


def chinese_variant(text: str) -> str:
    """Return ``zh-TW`` for traditional characters, ``zh-CN`` for simplified ones; empty where ``text`` has neither."""
    # What both have is in both character sets; what is in one of them only decides.
    characters = re.sub(f"[^{HAN}]+", "", text)
    traditional = len(characters.encode("big5", "ignore"))
    simplified = len(characters.encode("gb2312", "ignore"))
    if traditional == simplified:
        return ""
    return "zh-TW" if traditional > simplified else "zh-CN"


def _count_letters(text: str) -> int:
    """Return how many letters a text has."""
    if text.isascii():
        # Several times as fast.
        return len(text) - len(text.encode().translate(None, _ASCII_LETTERS))
    return sum(map(str.isalpha, text))


def _counts(words: list[str]) -> dict[str, int]:
    """Return how many of the frequent words of each language are among others."""
    times = Counter(words)
    # Only words that it has: a counter takes long to say that a word is missing.
    return {
        language: sum(map(times.__getitem__, filter(times.__contains__, frequent)))
        for language, frequent in _FREQUENT_WORDS.items()
    }
