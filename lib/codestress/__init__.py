"""codestress: regenerate the tables and figures of four papers on what language models understand
of code."""

__version__ = "1.0.0.dev0"
