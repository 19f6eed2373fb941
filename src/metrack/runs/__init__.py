"""Runs: a source followed from first boxes to a folder of results and a report."""
