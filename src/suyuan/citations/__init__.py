"""Citations: number the sources, link the markers of an answer, and check the cited sentences."""
