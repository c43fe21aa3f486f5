"""A small web inside the process, to try everything without a network: pages, engines, and a client for them."""
