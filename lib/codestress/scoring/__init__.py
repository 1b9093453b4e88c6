"""Scoring of answers."""
