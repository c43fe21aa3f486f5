"""How long an answer is, and in what form: short, full, a list or a table."""

from __future__ import annotations

from typing import Literal, get_args

AnswerLength = Literal["auto", "short", "full", "list", "table"]
"""``auto``: for a fact as few sentences as are certain, else more, and a table for figures of several things."""

LENGTHS: tuple[AnswerLength, ...] = get_args(AnswerLength)
