"""metrack in the shape other tools expect."""
