"""The APIs of other products, one file each; ``shared`` is what they have in common."""
