"""The readers of the demo: instruments with known parameters. The papers offer how they answer (rooms.py)."""
