"""Following a target: the tracker, what it remembers, how sure it is, and several targets at once."""
