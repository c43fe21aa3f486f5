"""HTTP, the browser and the guard: the only package that opens sockets or starts browsers."""
