"""Pictures: boxes on frames, heat maps, charts, and the shell of an HTML page."""
