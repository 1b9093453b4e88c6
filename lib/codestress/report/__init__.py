"""Figures, tables, manifests, the gallery."""
