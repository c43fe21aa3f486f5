"""Is everything well? What is wrong, and the exact line that mends it: one file for each thing that is examined."""
