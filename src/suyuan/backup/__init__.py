"""One backup of everything that is kept, and its restoration, here or on another machine."""
