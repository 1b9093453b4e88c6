"""Answers judged."""
