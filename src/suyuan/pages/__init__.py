"""Reading pages: bytes to text, HTML to its main content as Markdown, and what was read."""
