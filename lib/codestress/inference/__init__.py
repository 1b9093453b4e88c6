"""Requests to models and their responses: engines, the store, and `run`."""
