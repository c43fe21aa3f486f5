"""``SearchSwitch``: the switch 联网搜索 as the person left it, on the page and in the terminal."""

from __future__ import annotations

from ..store.choices import Choices


class SearchSwitch:
    """The search switch with which the conversations of the person who asks begin; waits for the disk."""

    def __init__(self, choices: Choices, configured: bool | None) -> None:
        self._choices = choices
        self._configured = configured

    def setting(self) -> bool:
        """As the person left it; else as it is configured; else on, which is what a search is started for."""
        left = self._choices.search()
        if left is not None:
            return left
        return self._configured is not False

    def without_person(self) -> bool:
        """For a conversation that a program begins without a word about it: as it is configured; else off."""
        return self._configured is True

    def keep(self, on: bool) -> None:
        """The person has turned it on or off."""
        self._choices.keep_search(on)
