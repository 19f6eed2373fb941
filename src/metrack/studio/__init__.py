"""The studio: a local page in which one draws a box, watches it followed, and sees why.

One process serves the page and does the work. :mod:`server` answers the page, :mod:`access` decides who may ask,
:mod:`media` finds videos, :mod:`reading` fetches their frames, :mod:`run_thread` drives a session in a thread of its
own, :mod:`store` keeps runs in a folder, :mod:`watching` pushes frames to pages, :mod:`why` explains an estimate.
"""
