"""Trackers of others behind the interface of ours, to be compared with."""
