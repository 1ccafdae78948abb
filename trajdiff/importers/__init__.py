"""Readers of recorded trials, one module per format."""
