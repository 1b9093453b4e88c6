"""Fault Localizability: which line is wrong, and whether it is found again after changes that mean nothing."""
