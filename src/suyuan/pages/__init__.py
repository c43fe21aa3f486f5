"""Pages: fetch, decode, extract the main content as Markdown, split into passages, and archive."""
