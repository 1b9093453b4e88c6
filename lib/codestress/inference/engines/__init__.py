"""Engines: one module for each way to get a response. Each has `Settings` and
`open_engine`; those of the engines in `registry.LOCAL` also have `identity`."""
