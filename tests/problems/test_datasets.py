"""Data sets are used only when they are what was pinned."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from codestress.errors import DataError, ParameterError
from codestress.problems import datasets
from codestress.problems.datasets import (
    DataFile,
    DataSet,
    data_file,
    fetch,
    find_dataset,
    load_catalogue,
    state,
)
from conftest import ROOT, codestress
from told import names, refused

CONTENT = b'"a" is connected to "b"\n'


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataSet:
    """A data set of one file whose address nobody answers, in a project of its own."""
    file = DataFile(
        path="x/y.txt",
        remote="y.txt",
        bytes=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
    )
    made = DataSet(
        description="d",
        licence="l",
        revision="r",
        base_url="http://127.0.0.1:9",
        files=[file],
    )
    monkeypatch.setattr(datasets, "DATA", tmp_path / "outputs")
    monkeypatch.setattr(datasets, "load_catalogue", lambda: {"made": made})
    monkeypatch.delenv("CODESTRESS_DATA", raising=False)
    return made


def changed(
    dataset: DataSet, monkeypatch: pytest.MonkeyPatch, **fields: None
) -> DataFile:
    """The file with other fields, in the catalogue too."""
    file = dataset.files[0].model_copy(update=fields)
    made = dataset.model_copy(update={"files": [file]})
    monkeypatch.setattr(datasets, "load_catalogue", lambda: {"made": made})
    return file


def test_a_missing_file_says_how_to_get_it(dataset: DataSet) -> None:
    assert state(dataset.files[0]) == "missing"
    with refused(DataError, "x/y.txt", "codestress data fetch made", "CODESTRESS_DATA"):
        data_file("made", "x/y.txt")
    with refused(DataError, "made", "http://127.0.0.1:9/y.txt", "CODESTRESS_DATA"):
        fetch("made", dataset.files[0])


def test_a_folder_serves_instead_of_the_network(
    dataset: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("x/._y.txt", "x/.DS_Store", "__MACOSX/x/._y.txt"):
        (tmp_path / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "mine" / name).write_bytes(b"\0\5\26\7")
    monkeypatch.setenv("CODESTRESS_DATA", str(tmp_path / "mine"))
    assert state(dataset.files[0]) == "missing"  # what is hidden does not matter
    (tmp_path / "mine/x/y.txt").write_bytes(CONTENT)
    assert data_file("made", "x/y.txt").read_bytes() == CONTENT
    assert fetch("made", dataset.files[0]) == tmp_path / "outputs/x/y.txt"
    monkeypatch.delenv("CODESTRESS_DATA")
    assert data_file("made", "x/y.txt") == tmp_path / "outputs/x/y.txt"
    assert state(dataset.files[0]) == "ok"


@pytest.mark.parametrize("content", [CONTENT.replace(b"b", b"c"), CONTENT + b"more"])
def test_an_altered_file_is_refused(
    content: bytes, dataset: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine/x").mkdir(parents=True)
    (tmp_path / "mine/x/y.txt").write_bytes(content)
    monkeypatch.setenv("CODESTRESS_DATA", str(tmp_path / "mine"))
    assert state(dataset.files[0]) not in ("ok", "missing")
    with refused(DataError, "mine/x/y.txt", "remove", "codestress data fetch made"):
        data_file("made", "x/y.txt")
    with refused(DataError, "made", "mine/x/y.txt", "nothing"):
        fetch("made", dataset.files[0])
    assert not (tmp_path / "outputs").exists()


def test_the_catalogue() -> None:
    for dataset in load_catalogue().values():
        assert dataset.licence
        assert len(dataset.revision) == 40
    with refused(ParameterError, "'find-the-orign'", "'find-the-origin'"):
        find_dataset("find-the-orign")


def test_the_pinned_files_are_those_at_hand(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    states = {
        name: {state(file) for file in dataset.files}
        for name, dataset in load_catalogue().items()
    }
    assert states.pop("codexglue-python") == {"missing"}
    assert set().union(*states.values()) == {"ok"}


def test_a_file_of_unknown_size_is_known_by_its_hash(
    dataset: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = changed(dataset, monkeypatch, bytes=None)
    path = tmp_path / "outputs/x/y.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert data_file("made", "x/y.txt") == path
    path.write_bytes(CONTENT + b"more")
    names(state(file), "SHA-256")


def test_a_file_without_an_address_says_that_only_a_copy_serves(
    dataset: DataSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(dataset, monkeypatch, remote=None)
    with refused(DataError, "x/y.txt", "no address", "CODESTRESS_DATA"):
        data_file("made", "x/y.txt")


@pytest.mark.usefixtures("dataset")
def test_a_file_that_a_data_set_does_not_have_names_the_nearest() -> None:
    with refused(DataError, "made", "x/z.txt", "'x/y.txt'"):
        data_file("made", "x/z.txt")


@contextlib.contextmanager
def answering(*replies: bytes, certificate: Path | None = None) -> Iterator[int]:
    """The port of a server on loopback that sends `replies` to each who speaks to it, one for each
    time, and hangs up; by TLS where it has a certificate."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                caller, _ = server.accept()
                with contextlib.suppress(OSError), caller:
                    if certificate:
                        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                        context.load_cert_chain(certificate)
                        caller = context.wrap_socket(caller, server_side=True)
                    for reply in replies:
                        caller.recv(9999)
                        caller.sendall(reply)
                    caller.close()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        server.close()


def fetched(
    folder: Path, base_url: str, **environment: str
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """`data fetch` of a data set at `base_url`, typed in a project of its own, and the files that it left."""
    project = folder / "project"
    if not project.exists():
        shutil.copytree(ROOT / "params", project / "params")
        (project / "notebooks").mkdir()
    file = {"path": "x/y.txt", "remote": "y.txt", "bytes": len(CONTENT)}
    file["sha256"] = hashlib.sha256(CONTENT).hexdigest()
    row = {"description": "d", "licence": "l", "revision": "r", "base_url": base_url}
    (project / "params" / "datasets.yaml").write_text(
        json.dumps({"made": row | {"files": [file]}})
    )
    plain = dict.fromkeys(
        ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), ""
    )
    plain |= {"NO_PROXY": "", "no_proxy": "", "CODESTRESS_DATA": ""}
    done = codestress(
        *("data", "fetch", "made"),
        outputs=folder / "outputs",
        CODESTRESS_ROOT=str(project),
        **plain | environment,
    )
    left = [path.name for path in (folder / "outputs").rglob("*") if path.is_file()]
    return done, left


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    "replies",
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",),
        (b"no HTTP at all\r\n\r\n",),
        (b"",),
        (OK + b"\r\n", b"no TLS at all"),
        None,  # nothing listens
    ],
)
def test_a_proxy_that_does_not_let_through_is_named(
    replies: tuple[bytes, ...] | None, tmp_path: Path
) -> None:
    with answering(*(replies or ())) as port:
        given = f"http://me:secret@127.0.0.1:{port if replies else 'odd'}"
        proxies = dict.fromkeys(("HTTPS_PROXY", "https_proxy"), given)
        done, left = fetched(tmp_path, "https://data.example", **proxies)
    assert done.returncode == 1
    names(done.stderr, "made", "data.example/y.txt", "HTTPS_PROXY", "CODESTRESS_DATA")
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr
    assert left == []


@pytest.mark.parametrize(
    "reply",
    [
        OK + b"Content-Length: %d\r\n\r\n%s" % (len(CONTENT), CONTENT[:-3]),
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\n" + CONTENT[:5] + b"\r\n9\r\n",
        OK + b"\r\n<html>Please sign in</html>",
        b"HTTP/1.1 404 Not Found\r\n\r\n",
    ],
)
def test_a_part_or_a_page_is_not_kept_as_the_file(reply: bytes, tmp_path: Path) -> None:
    with answering(reply) as port:
        done, left = fetched(tmp_path, f"http://127.0.0.1:{port}")
    assert done.returncode == 1
    names(done.stderr, "made", f"127.0.0.1:{port}/y.txt")
    assert "Traceback" not in done.stderr
    assert left == []


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_a_certificate_that_nobody_knows_is_named_with_the_remedy(
    tmp_path: Path,
) -> None:
    own = tmp_path / "own.pem"
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 9 -subj /CN=company"
    made += f" -addext subjectAltName=IP:127.0.0.1 -keyout {own} -out {tmp_path / 'cert.pem'}"
    subprocess.run(made.split(), check=True, capture_output=True)
    own.write_text(own.read_text() + (tmp_path / "cert.pem").read_text())
    with answering(OK + b"\r\n" + CONTENT, certificate=own) as port:
        address = f"https://127.0.0.1:{port}"
        done, left = fetched(tmp_path, address)
        assert done.returncode == 1
        names(done.stderr, f"{address}/y.txt", "certificate", "SSL_CERT_FILE")
        assert "Traceback" not in done.stderr
        assert left == []
        done, left = fetched(
            tmp_path, address, SSL_CERT_FILE=str(tmp_path / "cert.pem")
        )
    assert done.returncode == 0, done.stderr
    assert left == ["y.txt"]
