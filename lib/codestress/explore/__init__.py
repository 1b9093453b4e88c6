"""Widgets of the notebooks in notebooks/explore: controls made from schemas and factors, and their
views."""
