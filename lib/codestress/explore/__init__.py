"""Widgets of the notebooks in notebooks/explore: controls of parameters and factors, and views."""
