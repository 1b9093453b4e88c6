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
from engine_calls import ask

from codestress.errors import EngineError
from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.openai import Settings, open_engine
from codestress.inference.registry import ModelEntry
from codestress.inference.served import models_of
from conftest import codestress
from openai_server import MODEL, OpenAIServer, Reply
from told import names, refused

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
SECRET = "sk-marker-0123456789"
ELSEWHERE = "http://model.example/v1"


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*PROXIES, *map(str.lower, PROXIES), *CERTIFICATES):
        monkeypatch.delenv(name, raising=False)


def models(url: str) -> list[str]:
    return [*models_of(url, "", 5)]


class Proxy(OpenAIServer):
    """A proxy that itself answers the requests to other servers."""

    def reply(self, method: str, path: str, *request: Any) -> Reply:
        self.counts[path] += 1
        path = path.removeprefix("http://model.example")
        return super().reply(method, path, *request)

    @property
    def url(self) -> str:
        return self.base_url.removesuffix("/v1")


def uses_proxy(url: str) -> bool:
    """Return whether the error of an absent server names the proxy of ALL_PROXY."""
    with pytest.raises(EngineError) as caught:
        models_of(url, "", 0.5)
    return "ALL_PROXY" in str(caught.value)


@pytest.mark.parametrize("proxy", ["http://127.0.0.1:9", "foo"])
@pytest.mark.parametrize("no_proxy", ["", "localhost:1,::2"])
def test_a_server_on_this_machine_is_asked_directly(
    monkeypatch: pytest.MonkeyPatch, proxy: str, no_proxy: str
) -> None:
    for name in PROXIES[:3]:
        monkeypatch.setenv(name, proxy)
        monkeypatch.setenv(name.lower(), proxy)
    monkeypatch.setenv("NO_PROXY", no_proxy)
    monkeypatch.setenv("SSL_CERT_FILE", "/missing")
    with OpenAIServer() as server:
        for host in ("127.0.0.1", "localhost", "127.1"):
            url = f"http://{host}:{server.port}/v1"
            assert models(url) == [MODEL]
            assert ask(url)[0].text


def test_the_machine_by_its_name_and_by_ipv6_is_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "bad://proxy")
    for host in (socket.gethostname(), "[::1]", "0.0.0.0", "api.localhost"):
        assert not uses_proxy(f"http://{host}:9/v1")


@pytest.mark.parametrize(
    ("name", "scheme"), [("HTTP_PROXY", "http://"), ("all_proxy", "")]
)
def test_any_other_server_is_asked_through_the_proxy(
    monkeypatch: pytest.MonkeyPatch, name: str, scheme: str
) -> None:
    with Proxy() as proxy:
        monkeypatch.setenv(name, scheme + proxy.url.removeprefix("http://"))
        assert models(ELSEWHERE) == [MODEL]
        assert ask(ELSEWHERE)[0].text
        assert proxy.counts[f"{ELSEWHERE}/models"] == 1
        assert proxy.counts[f"{ELSEWHERE}/chat/completions"] == 1
    with refused(EngineError, ELSEWHERE, name):
        models(ELSEWHERE)
    with refused(RequestFailed, ELSEWHERE, name):
        ask(ELSEWHERE)


@pytest.mark.parametrize(
    ("no_proxy", "host"),
    [
        ("*", "203.0.113.9"),
        ("127.0.0.0/8,203.0.113.0/24", "203.0.113.9"),
        ("*.Corp.TEST", "api.corp.test"),
    ],
)
def test_what_no_proxy_names_is_asked_directly(
    monkeypatch: pytest.MonkeyPatch, no_proxy: str, host: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", "bad://proxy")
    assert uses_proxy(f"http://{host}:9/v1")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    assert not uses_proxy(f"http://{host}:9/v1")


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (f"socks5://me:{SECRET}@px:1080", "socksio"),
        (f"gopher://me:{SECRET}@px", "unset"),
        ("http://", "unset"),
        (f"http://{SECRET}:port", "unset"),
        ("http://[::1", "unset"),
    ],
)
@pytest.mark.parametrize("call", [models, ask])
def test_a_proxy_that_cannot_be_used_is_named_where_it_would_be(
    monkeypatch: pytest.MonkeyPatch, call: Any, value: str, remedy: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", value)
    with pytest.raises(EngineError) as caught:
        call("https://model.example/v1")
    names(caught.value, "HTTPS_PROXY", remedy)
    assert SECRET not in str(caught.value)
    with Proxy() as proxy:  # of plain http, which is another one
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert call(ELSEWHERE)


def test_make_try_looks_for_servers_whatever_proxies_are_set(tmp_path: Path) -> None:
    settings = {"ALL_PROXY": "socks5://127.0.0.1:9", "SSL_CERT_FILE": "/missing"}
    result = codestress("try", outputs=tmp_path, **settings)
    assert (result.returncode, result.stderr) == (0, ""), result
    names(result.stdout, "make try MODEL=")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A file with a server's certificate that no authority knows; its key is beside it."""
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
    """The address of a server with this certificate, whose list of models is a file."""
    folder = certificate.parent
    (folder / "v1").mkdir()
    (folder / "v1" / "models").write_text('{"data": [{"id": "secure"}]}')
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(folder)
    )
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_certificate_of_a_private_network_is_named_and_taken(
    secure: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for call in (models, ask):
        with refused(EngineError, secure, "SSL_CERT_FILE"):
            call(secure)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert models(secure) == ["secure"]


@pytest.mark.parametrize("content", [None, "x"])
def test_a_file_without_certificates_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "certificates.pem"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    for call in (models, ask):
        with refused(EngineError, "SSL_CERT_FILE", path):
            call("https://127.0.0.1:9/v1")
    monkeypatch.delenv("SSL_CERT_FILE")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(path))
    with refused(EngineError, "no server answers"):
        models("https://127.0.0.1:9/v1")


def test_a_pasted_address_of_the_environment_is_cut_and_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with OpenAIServer() as server:
        monkeypatch.setenv("LOCAL", f" {server.base_url}/chat/completions ")
        assert ask("http://x.example", base_url_env="LOCAL")
    names(capsys.readouterr().err, server.base_url)


def test_variables_of_openais_client_reach_no_other_server(
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


@pytest.mark.parametrize(
    ("url", "variable"),
    [
        ("https://eu.api.openai.com/v1", "OPENAI_API_KEY"),
        ("http://api.openai.com/v1", ""),
        ("https://api.openai.com.evil.example/v1", ""),
        ("https://evilapi.openai.com.example/v1", ""),
    ],
)
def test_openais_key_is_for_openais_own_address(url: str, variable: str) -> None:
    assert Settings(base_url=url).key_variable == variable
