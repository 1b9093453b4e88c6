"""Connections to servers: the address that a person typed, the proxy and certificates
from environment variables, and the key.

The key does not appear in messages, logs and completions. A server on this machine is
asked directly; any other server is asked through the proxy and with the certificates
that environment variables name. A name or password in ~/.netrc is not sent to any
server.
"""

import logging
import os
import re
import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from pydantic import HttpUrl

from codestress.errors import EngineError

ENDPOINT = re.compile(
    r"/(chat/completions|completions|responses|embeddings|models(/[^/]+)?|api/(chat|generate|tags)|health|docs)$"
)
"""Regular expression for the paths of endpoints that people copy together with an
address."""
SECRET = re.compile("key|token|secret|auth", re.I)
"""Regular expression for the query or fragment of an address that holds a key."""
AROUND = " \t\r\n\"'`<>“”„‘’«»"
"""Characters around an address that people copy with it."""

SHORTEST = 6
"""Minimum number of characters of a key that is replaced in answers; twice as many if
the key has letters alone. A shorter key may be an ordinary word of the answer."""
SHOWN_CHARACTERS = 300
"""Maximum number of characters of a server's text in a message."""
LIBRARIES = ("openai", "httpx2", "httpcore2")
"""HTTP libraries, whose logs hold headers, and thus keys."""


def base_of(typed: str) -> str:
    """Return the address of a server, read from the text `typed` that a person typed or
    pasted.

    Quotation marks and spaces around the address, an endpoint's path and a query are
    removed, and the host is in small letters. Raises `ValueError` if `typed` is not an
    address, or has a place for a user, a password or a key. The error's message, which
    follows the name of the address, does not show the address: it may hold a secret.
    """
    try:
        url = HttpUrl(typed.strip(AROUND))
    except ValueError:
        raise ValueError(
            "is no http:// or https:// address such as http://localhost:8000/v1"
        ) from None
    if url.username or url.password or SECRET.search(f"{url.query} {url.fragment}"):
        raise ValueError(
            "must not hold a user, password or key; a key belongs into the environment "
            "variable that settings.key_env, or KEY_ENV (--key-env), names"
        )
    address, *_ = re.split("[?#]", str(url))
    scheme, _, place = address.rstrip("/").partition("://")
    return f"{scheme}://{ENDPOINT.sub('', place).rstrip('/')}"


def is_openai(url: str) -> bool:
    """Return whether `url` is OpenAI's own address: settings for OpenAI are not sent to
    any other server."""
    parts = urlsplit(url)
    return parts.scheme == "https" and f".{parts.hostname}".endswith(".api.openai.com")


@contextmanager
def only_for_openai(url: str) -> Iterator[None]:
    """Return a context manager that hides the environment variables OPENAI_… unless
    `url` is OpenAI's own address.

    OpenAI's client would send their values, and headers that they name, to any server.
    """
    hidden = {}
    for name in () if is_openai(url) else tuple(os.environ):
        if name.startswith("OPENAI_"):
            hidden[name] = os.environ.pop(name)
    try:
        yield
    finally:
        os.environ.update(hidden)


def _is_local(host: str) -> bool:
    name = host.rstrip(".").lower()
    own = socket.gethostname().lower()
    if name.rpartition(".")[2] == "localhost" or name in (own, own.partition(".")[0]):
        return True
    with suppress(OSError):  # of a name, and of an address that is another machine's
        numeric = socket.getaddrinfo(host, 0, flags=socket.AI_NUMERICHOST)
        family, kind, _, _, address = numeric[0]
        with socket.socket(family, kind) as probe:
            probe.bind(address)
        return True
    return host.startswith("127.")


def proxy_of(url: str) -> tuple[str, str]:
    """Return the proxy through which the server at `url` is asked: the name of the
    environment variable, and its value.

    The name and the value are empty if the server is asked directly.
    """
    # Imported late: it takes a hundredth of a second.
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    host = parts.hostname or ""
    proxies = getproxies()
    exempt = re.split(r"[\s,]+", proxies.get("no", "").lower())
    if _is_local(host) or proxy_bypass(parts.netloc) or _is_exempt(host, exempt):
        return "", ""
    for scheme in (parts.scheme, "all"):
        if value := proxies.get(scheme):
            name = f"{scheme}_proxy"
            return name if os.environ.get(name) else name.upper(), value
    return "", ""


def _is_exempt(host: str, entries: Iterable[str]) -> bool:
    """Return whether one of the `entries` of NO_PROXY is `*.` before the end of the
    name `host`, or a range with the address `host`: urllib takes neither."""
    for entry in entries:
        if entry.startswith("*.") and host.endswith(entry[1:]):
            return True
        with suppress(ValueError):
            if ip_address(host) in ip_network(entry, strict=False):
                return True
    return False


def through(url: str) -> str:
    """Return the words that follow the address `url` in a message: the proxy through
    which its server is asked.

    Empty if the server is asked directly.
    """
    variable, _ = proxy_of(url)
    return f" (through the proxy of {variable})" if variable else ""


def connection(url: str) -> dict[str, Any]:
    """Return the arguments with which an HTTP client of httpx2 asks the server at
    `url`.

    Raises `EngineError`, which names the environment variable, if a proxy or
    certificates that the request needs cannot be used.
    """
    import httpx2

    variable, value = proxy_of(url)
    # Without `verify` each client would read all certificates, also for http.
    none = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    options: dict[str, Any] = {"trust_env": False, "verify": none}
    scheme = urlsplit(url).scheme
    if variable:
        try:
            proxy = httpx2.Proxy(value if "://" in value else f"http://{value}")
            httpx2.HTTPTransport(proxy=proxy, verify=none)
            if not proxy.url.host:
                raise ValueError
        except Exception:  # the library's words may hold a password
            raise EngineError(
                f"{variable} names no usable proxy, such as http://HOST:PORT or socks5://HOST:PORT (which needs a "
                "package: pip install socksio); correct it, or unset it"
            ) from None
        options["proxy"] = proxy
        scheme += proxy.url.scheme
    if "https" in scheme:
        try:
            options["verify"] = httpx2.create_ssl_context()
        except OSError as error:  # ssl.SSLError among them
            file = os.environ.get("SSL_CERT_FILE", "")
            raise EngineError(
                f"SSL_CERT_FILE={file}: {error}; correct it, or unset it"
            ) from None
    return options


class Secret:
    """A server's key, with methods that replace the key by "[key]" in texts.

    The logs of the HTTP libraries (`LIBRARIES`) are off from here on. An encoded form
    of the key (hexadecimal, Base64) is not found.
    """

    def __init__(self, key: str) -> None:
        # JSON, and what Python prints, have backslashes before some characters.
        pattern = re.sub(r"(\\?\W)", r"\\\\*\1", re.escape(key))
        self._pattern = re.compile(pattern or "(?!)")
        shortest = 2 * SHORTEST if key.isalpha() else SHORTEST
        self._is_word = len(key) < shortest
        for name in LIBRARIES:
            logging.getLogger(name).setLevel(logging.CRITICAL)

    def out_of(self, text: str) -> str:
        """Return the completion `text` with the key replaced by "[key]", unless the key
        is so short that it may be a word of the completion (see `SHORTEST`)."""
        return text if self._is_word else self.out_of_message(text)

    def out_of_message(self, text: str) -> str:
        """Return `text`, a part of a message, with the key replaced by "[key]", even if
        the key is short."""
        return self._pattern.sub("[key]", text)

    def quote(self, words: str) -> str:
        """Return the server's text `words` on one line: printable, cut to
        `SHOWN_CHARACTERS`, and with the key replaced."""
        words = self.out_of_message(words)
        words = "".join(letter if letter.isprintable() else " " for letter in words)
        line = " ".join(words.split())
        if len(line) <= SHOWN_CHARACTERS:
            return line
        return line[: SHOWN_CHARACTERS - 1] + "…"
