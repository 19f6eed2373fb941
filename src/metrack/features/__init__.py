"""Descriptors of image regions."""
