"""The tools for language models: their names, descriptions, inputs and output text."""
