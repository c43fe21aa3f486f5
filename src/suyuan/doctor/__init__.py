"""Checks of the installation: what is wrong, and what to change; one file for each area."""
