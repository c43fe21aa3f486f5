"""The language of a text, by its script and by its most frequent words."""

from __future__ import annotations

import re

from .scripts import HAN

# The first that occurs decides: kana before Han, since Japanese uses both.
_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "zh": re.compile(f"[{HAN}]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
    "hi": re.compile("[\u0900-\u097f]"),
}
# Of the letters of a text; Japanese is mostly Han, Chinese has many Latin names.
_LEAST_SHARE = {"ja": 0.1, "zh": 0.3}
_TRADITIONAL = re.compile("[們個這來時國學會說對後開關電網臺灣與為發經過還沒樣]")
_SIMPLIFIED = re.compile("[们个这来时国学会说对后开关电网台湾与为发经过还没样]")
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
_SAMPLE = 4000


def script_language(text: str) -> str:
    """Return the language that the script of ``text`` stands for; empty for the Latin script, which many share."""
    if text.isascii():
        return ""
    return next((language for language, script in _SCRIPTS.items() if script.search(text)), "")


def detect_language(text: str) -> str:
    """Return the language of ``text``, for Chinese with its region; empty where it is not certain."""
    sample = text[:_SAMPLE]
    letters = sum(map(str.isalpha, sample))
    if letters < 20:
        return ""
    for language, script in _SCRIPTS.items():
        if len(script.findall(sample)) > letters * _LEAST_SHARE.get(language, 0.4):
            return _chinese(sample) if language == "zh" else language
    found = sample.lower().split()
    counts = {language: sum(word in frequent for word in found) for language, frequent in _FREQUENT_WORDS.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if counts[best] > len(found) * 0.08 else ""


def _chinese(sample: str) -> str:
    return "zh-TW" if len(_TRADITIONAL.findall(sample)) > len(_SIMPLIFIED.findall(sample)) else "zh-CN"
