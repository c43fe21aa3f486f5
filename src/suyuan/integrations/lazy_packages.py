"""Packages whose own code runs only when something of it is used: modules inside them can be imported without it."""

from __future__ import annotations

import sys
from functools import partial
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any


def make_lazy(*names: str) -> None:
    """Postpone the code of these packages, outer ones first; those that are loaded already stay as they are."""
    for name in names:
        if name in sys.modules:
            continue
        spec = find_spec(name)
        if spec is None or spec.submodule_search_locations is None:
            return
        package = module_from_spec(spec)
        # Called for what the package does not have, which is everything but its submodules.
        package.__getattr__ = partial(_load, package)  # type: ignore[method-assign]
        sys.modules[name] = package
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, package)


def _load(package: ModuleType, attribute: str) -> Any:
    if attribute.startswith("__"):
        raise AttributeError(attribute)
    del package.__getattr__
    assert package.__spec__ is not None and package.__spec__.loader is not None
    package.__spec__.loader.exec_module(package)
    return getattr(package, attribute)
