"""Where the target is, by regression over every place around it at once."""
