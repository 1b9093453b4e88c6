"""Trials and prompts."""
