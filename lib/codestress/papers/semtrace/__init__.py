"""Sense and Sensitivity: recall and understanding of code in long contexts."""
