"""Identification: comparing a tracked target with sets of templates, one set per known target.

A frame's distance to a target is the residual with which that target's templates explain what was seen, in a metric
learned from the templates. Distances are summed over frames, each weighted by the tracker's score (paper: section 5).
Build a :class:`Gallery`, then call an :class:`Identifier` frame by frame.
"""

from metrack.estimate import Identity
from metrack.identity.crops import folder_crops
from metrack.identity.gallery import Gallery, check_gallery
from metrack.identity.identifier import Identifier
from metrack.identity.metric import learn_metric
from metrack.identity.residual import cumulative, distances, nearest

__all__ = [
    "Gallery",
    "Identifier",
    "Identity",
    "check_gallery",
    "cumulative",
    "distances",
    "folder_crops",
    "learn_metric",
    "nearest",
]
