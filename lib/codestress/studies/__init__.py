"""One module per paper; the only place that knows a paper."""
