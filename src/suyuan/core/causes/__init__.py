"""Every cause of failure the house knows, in one catalogue for each room: its code, its words in English and Chinese, and its cure.

A room that finds a failure calls the cause: ``raise CAPTCHA(engine="ddg_html")``. Texts stand here and nowhere
else, so that the terminal, the page, the model and the guide all say the same.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..cause import Cause


def catalogues() -> dict[str, dict[str, Cause]]:
    """Every cause by its name, by catalogue."""
    modules = {module.name: import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)}
    return {
        name: {key: value for key, value in vars(module).items() if isinstance(value, Cause)}
        for name, module in modules.items()
    }
