"""One module per way to get an answer; each has `Settings` and `open_engine`."""
