"""Removal of the server's key from texts, messages and logs."""

from __future__ import annotations

import logging

SHOWN = "[key]"
SHORTEST = 6
"""Minimum number of characters of a key that is replaced in answers, twice as many for a key of
letters alone: a shorter key may be any word."""
SHOWN_CHARACTERS = 300
"""Maximum number of characters of a server's words in a message."""
LIBRARIES = ("openai", "httpx2", "httpcore2")


class Secret:
    """A server's key, which is replaced by "[key]" in texts by its methods, and in all later log
    records of the HTTP libraries (`LIBRARIES`). Only the key as it is written is found; an encoded
    form of it (hexadecimal, Base64) is not."""

    def __init__(self, key: str) -> None:
        self._key = key
        shortest = 2 * SHORTEST if key.isalpha() else SHORTEST
        self._is_word = len(key) < shortest
        for name in [*LIBRARIES, *logging.root.manager.loggerDict]:
            if name.partition(".")[0] in LIBRARIES:
                logging.getLogger(name).addFilter(self._cleaned)

    def out_of(self, text: str) -> str:
        """Returns `text`, a server's, with the key replaced by "[key]"; a key too short to be told
        from a word (see `SHORTEST`) stays."""
        return text if self._is_word else text.replace(self._key, SHOWN)

    def out_of_message(self, text: str) -> str:
        """Returns `text`, which a message is to show, with the key replaced by "[key]", however
        short the key is."""
        return text.replace(self._key, SHOWN) if self._key else text

    def shown(self, words: str) -> str:
        """Returns `words`, a server's text, on one line: printable, cut to `SHOWN_CHARACTERS`, and
        with the key replaced."""
        words = self.out_of_message(words)
        words = "".join(letter if letter.isprintable() else " " for letter in words)
        line = " ".join(words.split())
        if len(line) <= SHOWN_CHARACTERS:
            return line
        return line[: SHOWN_CHARACTERS - 1] + "…"

    def _cleaned(self, record: logging.LogRecord) -> bool:
        record.msg = self.out_of_message(record.getMessage())
        record.args = None
        if record.exc_info:
            trace = logging.Formatter().formatException(record.exc_info)
            record.exc_text = self.out_of_message(trace)
            record.exc_info = None
        return True
