"""Finding the target with a correlation filter: ridge regression over every shift of a search window."""
