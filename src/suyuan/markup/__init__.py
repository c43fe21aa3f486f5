"""Markdown of models and pages as safe blocks of HTML, with formulas and colours, in a time that is bounded."""
