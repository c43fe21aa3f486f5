"""The product's own guides in English and Chinese, for the terminal, the web page and the offline search."""
