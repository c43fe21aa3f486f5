"""Citations: numbering sources, and later linking and checking what cites them. Pure."""
