"""Settings of a shell for other programs: proxies, certificates, variables of OpenAI's client, ~/.netrc."""

from __future__ import annotations

import asyncio
import functools
import http.server
import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codestress.errors import EngineError
from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.openai import Settings, open_engine
from codestress.inference.registry import ModelEntry
from codestress.inference.served import models_of
from codestress.types import Response
from conftest import codestress
from openai_server import MODEL, OpenAIServer, Reply
from served import entry, prompt, responses
from told import names, refused

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
SECRET = "sk-marker-0123456789"
ELSEWHERE = "http://model.example/v1"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, *map(str.lower, PROXIES), *CERTIFICATES):
        monkeypatch.delenv(name, raising=False)


def ask(server: OpenAIServer | str, **settings: object) -> Response:
    [response] = responses(entry(server, **settings), prompt("What is 6 × 7?"))
    return response


def models(url: str) -> list[str]:
    return [*models_of(url, "", 5)]


class Proxy(OpenAIServer):
    """Takes requests to other servers, as proxies do, and answers them itself."""

    def reply(self, method: str, path: str, *request: Any) -> Reply:
        self.counts[path] += 1
        path = path.removeprefix("http://model.example")
        return super().reply(method, path, *request)

    @property
    def url(self) -> str:
        return self.base_url.removesuffix("/v1")


def goes_by_proxy(url: str) -> bool:
    """Whether a proxy that cannot be used is named for a server that is not there."""
    with pytest.raises(EngineError) as raised:
        models_of(url, "", 0.5)
    return "ALL_PROXY" in str(raised.value)


# Proxies


@pytest.mark.parametrize("no_proxy", [None, "", "example.com", "localhost:1,::2"])
@pytest.mark.parametrize("proxy", ["http://127.0.0.1:9", "socks5://127.0.0.1:9", "foo"])
def test_a_server_on_this_machine_is_asked_directly(
    monkeypatch: pytest.MonkeyPatch, proxy: str, no_proxy: str | None
) -> None:
    for name in PROXIES[:3]:
        monkeypatch.setenv(name, proxy)
        monkeypatch.setenv(name.lower(), proxy)
    if no_proxy is not None:
        monkeypatch.setenv("NO_PROXY", no_proxy)
    monkeypatch.setenv("SSL_CERT_FILE", "/missing")
    with OpenAIServer() as server:
        for host in ("127.0.0.1", "localhost", "127.1"):
            url = f"http://{host}:{server.port}/v1"
            assert models(url) == [MODEL]
            assert ask(url).text


def test_the_machine_by_its_name_and_by_ipv6_is_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "bad://proxy")
    for host in (socket.gethostname(), "[::1]", "0.0.0.0", "api.localhost"):
        assert not goes_by_proxy(f"http://{host}:9/v1")


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("scheme", ["http://", ""])
def test_any_other_server_is_asked_by_the_proxy(
    monkeypatch: pytest.MonkeyPatch, name: str, scheme: str
) -> None:
    with Proxy() as proxy:
        monkeypatch.setenv(name, scheme + proxy.url.removeprefix("http://"))
        assert models(ELSEWHERE) == [MODEL]
        assert ask(ELSEWHERE).text
        assert proxy.counts[f"{ELSEWHERE}/models"] == 1
        assert proxy.counts[f"{ELSEWHERE}/chat/completions"] == 1
    with refused(EngineError, ELSEWHERE, name):
        models(ELSEWHERE)
    with refused(RequestFailed, ELSEWHERE, name):
        ask(ELSEWHERE)


@pytest.mark.parametrize(
    ("named", "host"),
    [
        ("*", "203.0.113.9"),
        ("127.0.0.0/8,203.0.113.0/24", "203.0.113.9"),
        ("x, 203.0.113.9", "203.0.113.9"),
        ("*.Corp.TEST", "api.corp.test"),
    ],
)
def test_what_no_proxy_names_is_asked_directly(
    monkeypatch: pytest.MonkeyPatch, named: str, host: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", "bad://proxy")
    assert goes_by_proxy(f"http://{host}:9/v1")
    monkeypatch.setenv("NO_PROXY", named)
    assert not goes_by_proxy(f"http://{host}:9/v1")


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (f"socks5://me:{SECRET}@px:1080", "socksio"),
        ("socks5h://px", "socksio"),
        (f"gopher://me:{SECRET}@px", "unset"),
        ("http://", "unset"),
        (f"http://{SECRET}:port", "unset"),
        ('"http://px:3128"', "unset"),
        ("http://[::1", "unset"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_named_where_it_would_be(
    monkeypatch: pytest.MonkeyPatch, value: str, remedy: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", value)
    for asked in (models, ask):
        with pytest.raises(EngineError) as raised:
            asked("https://model.example/v1")
        names(raised.value, "HTTPS_PROXY", remedy)
        assert SECRET not in str(raised.value)
        with Proxy() as proxy:  # of plain http, which is another one
            monkeypatch.setenv("HTTP_PROXY", proxy.url)
            assert asked(ELSEWHERE)


@pytest.mark.parametrize("value", ["socks5://127.0.0.1:9", "localhost:3128"])
def test_make_try_looks_for_servers_whatever_proxies_are_set(
    tmp_path: Path, value: str
) -> None:
    done = codestress(
        "try", outputs=tmp_path, ALL_PROXY=value, SSL_CERT_FILE="/missing"
    )
    assert (done.returncode, done.stderr) == (0, ""), done
    names(done.stdout, "make try MODEL=")


# Certificates


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A file with the key and certificate of a server that no authority knows."""
    if not shutil.which("openssl"):
        pytest.skip("openssl, which makes a certificate, is not here")
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "
        "/CN=localhost -addext subjectAltName=IP:127.0.0.1 -keyout server.key -out server.pem"
    )
    subprocess.run(command.split(), check=True, capture_output=True, cwd=tmp_path)
    return tmp_path / "server.pem"


@pytest.fixture
def secure(certificate: Path) -> Iterator[str]:
    """The address of a server with this certificate, whose list of models is the file `v1/models`."""
    (certificate.parent / "v1").mkdir()
    (certificate.parent / "v1" / "models").write_text('{"data": [{"id": "secure"}]}')
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(certificate.parent)
    )
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_certificate_of_ones_own_network_is_named_and_taken(
    secure: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for asked in (models, ask):
        with refused(EngineError, secure, "SSL_CERT_FILE"):
            asked(secure)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert models(secure) == ["secure"]


@pytest.mark.parametrize("value", ["missing", "no certificate"])
def test_a_file_without_certificates_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    variable = "SSL_CERT_FILE"
    path = tmp_path / value
    if value != "missing":
        path.write_text("x")
    monkeypatch.setenv(variable, str(path))
    for asked in (models, ask):
        with refused(EngineError, variable, path):
            asked("https://127.0.0.1:9/v1")
    monkeypatch.delenv(variable)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
    with refused(EngineError, "no server answers"):
        models("https://127.0.0.1:9/v1")


# What belongs to OpenAI


def test_variables_of_openai_s_client_reach_no_other_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = f"X-Mine: {SECRET}\nAuthorization: Bearer {SECRET}"
    for name in ("ORG_ID", "PROJECT_ID", "API_KEY", "ADMIN_KEY", "WEBHOOK_SECRET"):
        monkeypatch.setenv(f"OPENAI_{name}", SECRET)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", lines)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://x.example")
    netrc = tmp_path / ".netrc"
    netrc.write_text(f"machine 127.0.0.1 login me password {SECRET}\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    before = dict(os.environ)
    with OpenAIServer() as server:
        models(server.base_url)
        ask(server)
        ask(server, key_env=None)
    assert len(server.requests) == 2
    for received in server.requests:
        assert SECRET not in str(received.headers)
        assert "basic" not in received.headers.get("authorization", "").lower()
        assert "x-mine" not in received.headers
    assert dict(os.environ) == before


def test_openai_itself_gets_what_is_meant_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-marker")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://x.example")
    engine = open_engine(ModelEntry(name="m", engine="openai", id="m"))
    assert engine.client.organization == "org-marker"
    assert str(engine.client.base_url).startswith("https://api.openai.com/v1")
    asyncio.run(engine.close())
    for url, key in (
        ("https://eu.api.openai.com/v1", "OPENAI_API_KEY"),
        ("http://api.openai.com/v1", ""),
        ("https://api.openai.com.evil.example/v1", ""),
        ("https://evilapi.openai.com.example/v1", ""),
    ):
        assert Settings(base_url=url).key_variable == key
    assert Settings(base_url="http://x.example", key_env="OPENAI_API_KEY").key_variable


# Addresses


def test_a_pasted_address_in_a_row_is_cut_and_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with OpenAIServer() as server:
        monkeypatch.setenv("LOCAL", f" {server.base_url}/chat/completions ")
        assert ask("http://x.example", base_url_env="LOCAL").text
        monkeypatch.delenv("LOCAL")
        assert ask(f"{server.base_url}/", base_url_env="LOCAL").text
    names(capsys.readouterr().err, server.base_url)
