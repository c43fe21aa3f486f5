"""The product's own guides, in English and Chinese: read in the terminal, on the page, and by the search when nothing else answers."""
