"""Questions that the demo web answers, to start with."""

from __future__ import annotations

QUESTIONS = {
    "en": (
        "Who created the Marl programming language?",
        "How tall is the Gull Point Lighthouse?",
        "What is the latest version of the Quillpad system?",
    ),
    "zh": (
        "听潮大桥的总设计师是谁？",
        "听潮大桥全长多少公里？",
        "墨舟系统的最新版本是多少？",
    ),
}
"""By language: one on which the sources agree, one on which they disagree, one for which the newest counts."""
