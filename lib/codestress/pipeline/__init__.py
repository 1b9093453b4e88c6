"""Builds of artefacts (figures and tables) that are out of date, and plans, comparisons
and checks of builds."""
