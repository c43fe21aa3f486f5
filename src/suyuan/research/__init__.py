"""Research: a question becomes a report in which every sentence can be traced to a passage that was read."""
