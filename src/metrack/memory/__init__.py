"""Training samples: where they are taken, and which of them are kept."""
