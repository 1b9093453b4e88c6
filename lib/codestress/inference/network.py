"""The way to a server: its address as typed, and what a connection takes from the environment.

Proxies and certificates are those that the environment names, by the rules of the HTTP client.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urljoin, urlsplit

from pydantic import HttpUrl

ENDPOINT = re.compile(
    r"/(chat/completions|completions|responses|embeddings|models(/[^/]+)?|api/(chat|generate|tags)|health|docs)$"
)
"""Regular expression for the paths that people copy with an address."""
AROUND = " \t\r\n\"'`<>“”„‘’«»"
"""Characters that people copy around an address."""


def base_of(typed: str) -> str:
    """Returns the address of the server of which a person typed or pasted an address (`typed`):
    without what stands around it, an endpoint's path and a query, in one spelling. Raises
    `ValueError` where it is none."""
    url = re.split("[?#]", str(HttpUrl(typed.strip(AROUND))))[0].rstrip("/")
    scheme, _, place = url.partition("://")
    return f"{scheme}://{ENDPOINT.sub('', place).rstrip('/')}"


def sent_on(url: str, location: str) -> str:
    """Returns the end of a message on a reply that redirects a request to `url` to `location`."""
    with suppress(ValueError):
        location = base_of(urljoin(url, location))
    return f"redirects are not followed; if the server is there, its URL (or base_url) is {location}"


def is_openai(url: str) -> bool:
    """Whether `url` is OpenAI's own address, which alone gets what is meant for it."""
    parts = urlsplit(url)
    return parts.scheme == "https" and f".{parts.hostname}".endswith(".api.openai.com")


@contextmanager
def only_for_openai(url: str) -> Iterator[None]:
    """Context in which the variables OPENAI_… are hidden, unless `url` is OpenAI's own address: its
    client sends their values, and headers that they name, to any server."""
    names = (
        []
        if is_openai(url)
        else [name for name in os.environ if name.startswith("OPENAI_")]
    )
    hidden = {name: os.environ.pop(name) for name in names}
    try:
        yield
    finally:
        os.environ.update(hidden)


def no_connection(who: str, error: Exception) -> str:
    """Returns the message that `error` keeps an HTTP client for `who` from being made: what it
    reads in the environment is at fault. The error's own words may hold a proxy's password."""
    return (
        f"{who}: no connection can be set up ({type(error).__name__}): correct or unset "
        "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR"
    )


def remedy_of(error: object) -> str:
    """Returns a sentence with the remedy where `error`, of an HTTP client, says that a certificate
    cannot be verified; else empty."""
    if "CERTIFICATE_VERIFY_FAILED" not in str(error):
        return ""
    return (
        "\nIf your network has a certificate of its own, name its file: "
        "export SSL_CERT_FILE=FILE.pem (REQUESTS_CA_BUNDLE is not read)"
    )
