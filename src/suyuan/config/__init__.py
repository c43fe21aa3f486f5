"""Configuration: the only package that reads the environment."""
