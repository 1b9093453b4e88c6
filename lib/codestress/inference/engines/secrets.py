"""The key reaches no output: what a server sends back is searched for it, plain and as servers encode it."""

from __future__ import annotations

import base64
import logging
import re

SHOWN = "[key]"
SHORTEST = 6
"""Characters of a key that is looked for in answers: a shorter one may be any word."""
LIBRARIES = ("openai", "httpx2", "httpcore2")


class Secret:
    """A key, and how to take it out of texts and logs."""

    def __init__(self, key: str) -> None:
        self._plain = re.compile(re.escape(key)) if key else None
        forms = _forms(key) if len(key) >= SHORTEST and not (key.isalpha() and len(key) < 2 * SHORTEST) else set()
        longest_first = sorted(map(re.escape, forms), key=len, reverse=True)
        spelled = "".join(map(_spelled, key))
        self._encoded = re.compile("|".join([spelled, *longest_first]), re.IGNORECASE) if forms else None

    def out_of(self, text: str) -> str:
        """A text of a server, without the key."""
        return self._encoded.sub(SHOWN, text) if self._encoded else text

    def out_of_message(self, text: str) -> str:
        """The same of what is only shown: the shortest key, too."""
        return self.out_of(self._plain.sub(SHOWN, text) if self._plain else text)

    def keep_out_of_logs(self) -> None:
        """What the libraries log of requests and replies is searched as well."""
        for name in [*LIBRARIES, *logging.root.manager.loggerDict]:
            if name.partition(".")[0] in LIBRARIES:
                logging.getLogger(name).addFilter(self._cleaned)

    def _cleaned(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self.out_of_message(record.getMessage()), None
        if record.exc_info:
            record.exc_text = self.out_of_message(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True


def _spelled(character: str) -> str:
    """A pattern: a character as it is, or as addresses, JSON and HTML may have it."""
    number = ord(character)
    percent = "".join(f"%{byte:02x}" for byte in character.encode())
    return rf"(?:{re.escape(character)}|{percent}|\\u{number:04x}|&#x0*{number:x};|&#0*{number};)"


def _forms(key: str) -> set[str]:
    """What stays of the key in Base64 wherever it begins there, and in hexadecimal."""
    raw = key.encode()
    forms = {raw.hex()}
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + raw).decode().rstrip("=")
        # The first characters hold bits of what stands before, the last one of what follows.
        inner = encoded[-(-before * 8 // 6) :]
        inner = inner[:-1] if (before + len(raw)) % 3 else inner
        forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return forms
