"""The experiments of the paper, one short file each; ``registry`` lists them, ``reproduce`` runs them."""
