"""Where the target may be in the next frame: a cloud of particles that moves and survives."""
