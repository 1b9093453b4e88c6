"""Simulated readers of the demo: programs that answer like a model, with known
parameters. The papers' packages define how they answer (rooms.py)."""
