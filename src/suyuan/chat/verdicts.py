"""The check of an answer's citations in words, the same in every view: page, terminal and exports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..messages.catalog import Texts
from ..tools.text import shortened

Json = Mapping[str, Any]

KEYS = (
    "supported_page", "supported_snippet", "supported", "weak", "contradicted", "not_found_page", "not_found", "unread",
)  # fmt: skip
"""The verdicts with what was compared, the best first."""
_LONGEST = 160


def title(lang: str) -> str:
    """Return the heading of the checks."""
    return Texts("claims", lang)("title")


def checks(answer: Json) -> list[dict[str, Any]]:
    """Return the checks of a stored answer, one for each number of each cited sentence."""
    found = []
    for claim in answer.get("claims") or ():
        # Answers that were stored earlier have one check for all numbers of a sentence.
        numbers = [claim["number"]] if "number" in claim else claim["numbers"]
        found += [{"basis": "", "says": "", **claim, "number": number} for number in numbers]
    return found


def verdict_key(check: Json) -> str:
    """Return the verdict of a check with what was compared."""
    key = f"{check['verdict']}_{check.get('basis')}"
    return key if key in KEYS else str(check["verdict"])


def verdict_text(check: Json, lang: str) -> str:
    """Return the verdict of a check in words."""
    return Texts("claims", lang)(f"verdict.{verdict_key(check)}", says=check.get("says", ""))


def counts(answer: Json, lang: str) -> list[tuple[str, str]]:
    """Return how many checks have which verdict, in words, with the verdict."""
    t, found = Texts("claims", lang), checks(answer)
    numbers = Counter(map(verdict_key, found))
    verdicts = {verdict_key(check): str(check["verdict"]) for check in found}
    return [(verdicts[key], t(f"count.{key}", n=numbers[key])) for key in KEYS if numbers[key]]


def disagreements(answer: Json, lang: str) -> list[str]:
    """Return where the sources disagree, each as one sentence; the sides of most origins first."""
    t = Texts("claims", lang)
    return [t("disagree", sides=t("between").join(_side(side, t) for side in each)) for each in sides(answer, lang)]


def sides(answer: Json, lang: str) -> list[list[dict[str, Any]]]:
    """Return what the sources say where they disagree: text, numbers and remarks of each side.

    Two sentences of an answer that give the two sides are one disagreement.
    """
    t = Texts("claims", lang)
    dates = {each["number"]: str(each.get("published_at") or "")[:10] for each in answer.get("sources") or ()}
    found: dict[frozenset[tuple[Any, ...]], list[dict[str, Any]]] = {}
    for each in answer.get("disagreements") or ():
        own = sorted(each["sides"], key=lambda side: -side["origins"])
        same = frozenset((side["text"], *side["numbers"]) for side in own)
        found.setdefault(same, [{**side, "notes": t("comma").join(_notes(side, dates, t))} for side in own])
    return list(found.values())


def _side(side: Json, t: Texts) -> str:
    text = t("side", text=side["text"], numbers=", ".join(map(str, side["numbers"])))
    return f"{text} {t('notes', notes=side['notes'])}" if side["notes"] else text


def _notes(side: Json, dates: Mapping[int, str], t: Texts) -> list[str]:
    """Return the dates of a side, and how many texts its sources are where that is less."""
    numbers, origins = side["numbers"], side["origins"]
    notes = sorted({dates[number] for number in numbers if dates.get(number)})
    if origins < len(numbers):
        notes.append(t("reprints", n=origins))
    return notes


def check_lines(answer: Json, lang: str) -> list[str]:
    """Return the checks as lines of text, each sentence with its number, and where the sources disagree."""
    text = str(answer.get("text") or "")
    checked = [
        f"[{check['number']}] {verdict_text(check, lang)} — "
        + shortened(" ".join(text[check["start"] : check["end"]].split()), _LONGEST)
        for check in checks(answer)
    ]
    return [*checked, *disagreements(answer, lang)]
