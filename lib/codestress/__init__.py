"""codestress: regenerate the tables and figures of four papers on what language models understand
of code."""

from codestress.start import start_alone

__version__ = "1.0.0.dev0"

start_alone()
