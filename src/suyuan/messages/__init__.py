"""User-facing texts: one JSON file for each language, and the module that reads them."""
