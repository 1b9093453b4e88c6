"""Artefacts executed when out of date."""
