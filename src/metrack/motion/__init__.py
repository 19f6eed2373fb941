"""The particle filter: motion model, resampling, and the search for a lost target."""
