"""The project's benchmarks: ``python -m benchmarks``; everything runs on loopback."""
