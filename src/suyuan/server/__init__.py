"""The server: the page, the JSON interface, and the interfaces that other products' clients know."""
