"""The papers. Each keeps here all that it alone needs; none knows another, and the core knows none (see rooms.py)."""
