"""Seeded faults: each breaks one promise of the product, and a test must notice.

``text`` occurs exactly once in the file (below ``src/suyuan``) and is replaced. ``shown_by`` is a requirement, all of
whose tests are run, or the tests themselves as pytest names them (``tests/x.py`` or ``tests/x.py::test``).
"""

from __future__ import annotations

from . import c1_to_c8, c9_to_c15, code, d_and_p, g, t
from .fault import Fault

__all__ = ["FAULTS", "Fault"]

FAULTS = (*c1_to_c8.FAULTS, *c9_to_c15.FAULTS, *d_and_p.FAULTS, *t.FAULTS, *g.FAULTS, *code.FAULTS)
