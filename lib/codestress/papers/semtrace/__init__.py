"""Sense and Sensitivity: what models recall of code and what they understand, in long contexts."""
