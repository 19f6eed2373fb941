"""Descriptors of image regions: window, gradients, HOG, raw pixels, colour."""
