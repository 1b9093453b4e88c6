"""Reports: figures, tables, manifests, and the gallery page."""
