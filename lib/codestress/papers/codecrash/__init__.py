"""Reproduction of the paper CodeCrash: predictions about programs that are rewritten to the same
meaning, or that carry misleading comments, prints and hints."""
