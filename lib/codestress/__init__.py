"""codestress: regenerate the tables and figures of four papers on what language models understand of code."""

__version__ = "0.1.0"
