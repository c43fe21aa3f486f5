"""One file per engine: each builds requests and parses responses, and opens no socket."""
