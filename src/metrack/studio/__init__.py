"""The studio: a local page in which one draws a box, watches it followed, and sees why.

One process serves the page and does the work. :mod:`server` answers the page, :mod:`guard` decides who may ask,
:mod:`library` finds videos, :mod:`reader` fetches single frames, :mod:`run` follows targets in a thread of its own,
:mod:`book` keeps runs in a folder, :mod:`watching` pushes frames to pages, :mod:`why` explains an estimate.
"""
