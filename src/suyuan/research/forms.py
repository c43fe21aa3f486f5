"""The formats of a report and their media types."""

from __future__ import annotations

FORMS = {
    "md": "text/markdown",
    "html": "text/html",
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "json": "application/json",
    "csl": "application/vnd.citationstyles.csl+json",
    "bib": "application/x-bibtex",
    "ris": "application/x-research-info-systems",
}
"""By the ending of the file."""
