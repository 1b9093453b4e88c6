"""Protection of the server's key: texts and logs are searched for it, plain and encoded as servers
encode it, and it is replaced."""

from __future__ import annotations

import base64
import logging
import re

SHOWN = "[key]"
SHORTEST = 6
"""Minimum number of characters of a key that is searched for in answers, twice as many for a key of
letters alone: a shorter key may be any word."""
SHOWN_CHARACTERS = 300
"""Maximum number of characters of a server's words in a message."""
LIBRARIES = ("openai", "httpx2", "httpcore2")


class Secret:
    """A server's key, with methods that replace it in texts and logs."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._encoded: re.Pattern[str] | None = None
        if len(key) >= SHORTEST and not (key.isalpha() and len(key) < 2 * SHORTEST):
            forms = sorted(map(re.escape, _forms(key)), key=len, reverse=True)
            spelled = "".join(map(_spelled, key))
            self._encoded = re.compile("|".join([spelled, *forms]), re.IGNORECASE)

    def out_of(self, text: str) -> str:
        """Returns `text`, a server's, with the key replaced by "[key]"; a key too short to be told
        from a word (see `SHORTEST`) stays."""
        return self._encoded.sub(SHOWN, text) if self._encoded else text

    def out_of_message(self, text: str) -> str:
        """Returns `text`, which a message is to show, with the key replaced by "[key]", however
        short the key is."""
        return self.out_of(text.replace(self._key, SHOWN) if self._key else text)

    def shown(self, words: str) -> str:
        """Returns `words`, a server's text, on one line: printable, cut to `SHOWN_CHARACTERS`, and
        with the key replaced."""
        words = self.out_of_message(words)
        line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
        return (
            line
            if len(line) <= SHOWN_CHARACTERS
            else line[: SHOWN_CHARACTERS - 1] + "…"
        )

    def keep_out_of_logs(self) -> None:
        """Has the key replaced by "[key]" in all later log records of the HTTP libraries
        (`LIBRARIES`)."""
        for name in [*LIBRARIES, *logging.root.manager.loggerDict]:
            if name.partition(".")[0] in LIBRARIES:
                logging.getLogger(name).addFilter(self._cleaned)

    def _cleaned(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self.out_of_message(record.getMessage()), None
        if record.exc_info:
            record.exc_text = self.out_of_message(
                logging.Formatter().formatException(record.exc_info)
            )
            record.exc_info = None
        return True


def _spelled(character: str) -> str:
    """Returns a regular expression that matches `character`, or its form in addresses, JSON or
    HTML."""
    number = ord(character)
    percent = "".join(f"%{byte:02x}" for byte in character.encode())
    return rf"(?:{re.escape(character)}|{percent}|\\u{number:04x}|&#x0*{number:x};|&#0*{number};)"


def _forms(key: str) -> set[str]:
    """Returns the texts by which an encoded text shows `key`: its hexadecimal form, and the parts
    of its Base64 form, at any offset, that do not depend on the text around it."""
    raw = key.encode()
    forms = {raw.hex()}
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        # The first characters hold bits of what stands before, the last one of what follows.
        inner = encoded[-(-before * 8 // 6) :]
        inner = inner[:-1] if (before + len(raw)) % 3 else inner
        forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return forms
