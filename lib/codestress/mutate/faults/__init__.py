"""Faults that change one line of a program, and neutral mutations (paper: Fault
Localizability)."""
