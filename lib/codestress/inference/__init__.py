"""Requests in, responses out: engines, the store, and `run`."""
