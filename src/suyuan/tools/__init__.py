"""Search as a tool of language models: what the tools are called, what they say, and their bindings."""
