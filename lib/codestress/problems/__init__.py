"""Problems for the studies: programs with calls and outputs, words, and data files."""
