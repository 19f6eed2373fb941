"""How well remembered samples explain a candidate, measured in the learned metric."""
