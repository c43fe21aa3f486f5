"""Search policy: whom to ask, for how long, what to do when they fail, and how to join what they say."""
