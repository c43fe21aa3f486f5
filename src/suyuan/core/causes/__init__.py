"""Every known cause of failure, one module for each area; the texts are in the message catalogues under its key.

Code that finds a failure calls the cause: ``raise CAPTCHA(engine="ddg_html")``.
"""

from __future__ import annotations

from ..cause import Cause


def causes_by_area() -> dict[str, dict[str, Cause]]:
    """Every cause by its name, by the module that holds it."""
    from importlib import import_module
    from pkgutil import iter_modules

    modules = {module.name: import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)}
    return {
        name: {key: value for key, value in vars(module).items() if isinstance(value, Cause)}
        for name, module in modules.items()
    }
