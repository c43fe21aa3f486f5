"""Values, errors and protocols that all packages share; standard library only, no I/O."""
