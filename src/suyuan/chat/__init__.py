"""Turns in Chat and Agent mode: a message in, a stream of events out, a cited answer at the end."""
