"""Course work on the ideas of the papers: assignments, what they are set on, how they are graded."""
