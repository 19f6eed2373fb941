"""Slow, obvious twins of what the package does fast. Read them first: they say what is meant."""
