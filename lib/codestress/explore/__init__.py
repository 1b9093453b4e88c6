"""What the notebooks in notebooks/explore show: controls made from schemas and factors, and what they change."""
