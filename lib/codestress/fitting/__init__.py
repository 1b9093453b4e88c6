"""Intervals, tests, curves."""
