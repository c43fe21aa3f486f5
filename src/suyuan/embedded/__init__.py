"""The embedded model: answers by quoting sentences of the sources, without a language model."""
