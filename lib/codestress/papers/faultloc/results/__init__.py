"""Fault Localizability: tables of its figures, the paper's own numbers beside the regenerated ones."""
