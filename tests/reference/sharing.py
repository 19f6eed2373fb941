"""Sharing of cells, one particle at a time."""


def share(states, cell):
    """The first state of every cell, cells in the order of scale, y, x; and for every state the number of its cell."""
    cells = [tuple(round(float(value) / float(side)) for value, side in zip(s, cell, strict=True)) for s in states]
    met = sorted(set(cells), key=lambda each: each[::-1])
    return [cells.index(each) for each in met], [met.index(each) for each in cells]
