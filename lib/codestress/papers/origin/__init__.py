"""Find the Origin (Fraga, 2024): chains in lists of lines, and things to be found in long texts."""
