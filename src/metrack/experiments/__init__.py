"""The experiments of the paper, runnable on any sequences: one short file each, ``registry`` of all, ``reproduce``."""
