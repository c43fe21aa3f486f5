"""The formats of a report and their media types."""

from __future__ import annotations

FORMS = {"md": "text/markdown", "json": "application/json"}
"""By the ending of the file."""
