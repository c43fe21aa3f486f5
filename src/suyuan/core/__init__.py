"""The words that all rooms share. Standard library only, no I/O."""
