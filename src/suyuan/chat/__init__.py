"""Chat and Agent: a message in, a stream of events out, an answer that can be traced at its end."""
