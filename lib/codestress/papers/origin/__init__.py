"""Find the Origin (Fraga, 2024): chains of links in lists of lines, and needles in long texts."""
