"""A tracker light enough to test with."""

from metrack import Tracker
from metrack.config import preset

LIGHT = preset("paper").replace(
    {"motion.particles": 60, "memory.size": 40, "metric.triplets": 60}
    | {"memory.first": 7, "memory.positives": 7, "memory.negatives": 7}  # a small memory must renew itself
)


def follow(tracker, clip, count=20, start=1):
    return [tracker.update(clip[i]) for i in range(start, start + count)]


def started(clip, config=LIGHT, seed=0):
    tracker = Tracker(config, seed=seed)
    tracker.init(clip[0], clip.first_box)
    return tracker
