"""Learning the metric in which appearances are compared."""
