"""Configuration: the only room that reads the environment."""
