"""One file per engine: each knows a page's or an interface's shape, and never a socket."""
