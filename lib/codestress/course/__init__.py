"""Course work on the ideas of the papers: assignments, their data, and grading."""
