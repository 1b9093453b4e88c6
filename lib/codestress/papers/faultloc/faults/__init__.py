"""Faults that change one line of a program, and changes that mean nothing (Fault Localizability)."""
