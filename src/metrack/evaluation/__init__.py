"""Measuring trackers on sequences with truth."""
