"""Estimators: intervals, tests and fitted curves."""
