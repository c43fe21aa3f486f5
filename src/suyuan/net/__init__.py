"""The only room that opens sockets or browsers."""
