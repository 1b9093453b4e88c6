"""Engines: one module per way to get a response; each has `Settings`, `identity` and
`open_engine`."""
