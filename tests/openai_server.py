"""A real HTTP server on loopback that speaks the chat-completions protocol, and misbehaves on demand.

In a test: `with OpenAIServer(behaviour) as server: … server.base_url … server.requests`.
As a process of its own: `python tests/openai_server.py --port 0 --delay 0` prints its base URL.
Speaks just enough HTTP/1.1: keep-alive, bodies with a Content-Length.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import itertools
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any, Literal

NUMBERS = itertools.count(1)
MODEL = "served-1"
FINGERPRINT = "fp_loopback"


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: Any
    seen: int
    """Earlier requests with the same prompt."""
    time: float
    """Seconds, monotonic."""

    @property
    def prompt(self) -> str:
        return prompt_of(self.body)


@dataclass(frozen=True)
class Reply:
    """What goes back, and how badly."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before the first byte."""
    until: Callable[[], bool] | None = None
    """Sent as soon as this holds."""
    cut: int | None = None
    """Bytes of the body that are sent before the connection closes; the Content-Length promises all of them."""
    hang_up: bool = False
    """Closes the connection without a word."""
    drip: float = 0.0
    """Seconds between single bytes of the body."""


Behaviour = Callable[[Received], Reply]


def prompt_of(body: Any) -> str:
    """The last user message, or the rendered prompt; empty when there is none."""
    if not isinstance(body, dict):
        return ""
    messages = body.get("messages", [])
    asked = [message["content"] for message in messages if message["role"] == "user"]
    return str(body.get("prompt") or (asked or [""])[-1])


def echo_text(prompt: str) -> str:
    """What `echo` says to a prompt: different for different prompts, the same every time."""
    return f"echo {hashlib.blake2b(prompt.encode(), digest_size=8).hexdigest()}: {prompt[-200:]}"


def completion_body(
    text: Any, finish_reason: Any = "stop", **message: Any
) -> dict[str, Any]:
    """A chat completion as servers write it."""
    said = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "message": said, "finish_reason": finish_reason}
    counts = {"prompt_tokens": 12, "completion_tokens": 7, "total_tokens": 19}
    cached, reasoned = {"cached_tokens": 4}, {"reasoning_tokens": 3}
    details = {"prompt_tokens_details": cached, "completion_tokens_details": reasoned}
    return {
        "id": f"chatcmpl-{next(NUMBERS)}",
        "object": "chat.completion",
        "created": 0,
        "model": MODEL,
        "system_fingerprint": FINGERPRINT,
        "choices": [choice],
        "usage": counts | details,
    }


def as_json(body: Any, **how: Any) -> Reply:
    return Reply(json.dumps(body).encode(), **how)


def completion(text: Any, finish_reason: Any = "stop", **how: Any) -> Reply:
    return as_json(completion_body(text, finish_reason), **how)


def failure(status: int, message: str, code: str | None = None, **how: Any) -> Reply:
    """An error as OpenAI writes it."""
    error = {"message": message, "type": "error", "code": code}
    return as_json({"error": error}, status=status, **how)


def echo(received: Received) -> Reply:
    body = completion_body(echo_text(received.prompt))
    if "prompt" in received.body:  # as `/v1/completions` writes it
        [choice] = body["choices"]
        choice["text"] = choice.pop("message")["content"]
    return as_json(body)


class OpenAIServer:
    """The server, in a thread of its own; an error in `behaviour` is raised when the block is left."""

    def __init__(
        self,
        behaviour: Behaviour = echo,
        port: int = 0,
        record: bool = True,
        prefill: Literal["continued", "ignored", "refused"] = "continued",
    ) -> None:
        self.behaviour = behaviour
        self.prefill = prefill
        """What the server does with a begun answer: as vLLM, as llama.cpp's server, as `transformers serve`."""
        self.port = port
        self.record = record
        self.listing = as_json({"object": "list", "data": [{"id": MODEL}]})
        """The list of models."""
        self.files: dict[str, bytes] = {}
        self.batches: list[dict[str, Any]] = []
        self.batch_polls = 3
        self.requests: list[Received] = []
        """Requests for completions in the order of their arrival; empty without `record`."""
        self.counts: Counter[str] = Counter()
        """Requests by prompt."""
        self.connections: set[_Connection] = set()
        self.connections_made = 0
        self.most_connections = 0
        """Connections open at once, at most."""
        self.error: Exception | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def start(self) -> asyncio.Server:
        """Listens in the running loop; `base_url` holds from here on."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: _Connection(self, loop), "127.0.0.1", self.port, backlog=1024
        )
        self.port = server.sockets[0].getsockname()[1]
        return server

    def __enter__(self) -> OpenAIServer:
        started = threading.Event()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(started)), name="openai-server"
        )
        self._thread.start()
        started.wait()
        return self

    async def _serve(self, started: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        server = await self.start()
        started.set()
        await self._stop.wait()
        server.close()
        for connection in list(self.connections):
            connection.transport.abort()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self.error and error is None:
            raise self.error

    def reply(
        self, method: str, path: str, headers: dict[str, str], content: bytes
    ) -> Reply:
        route = f"{method} {path}"
        if route in ("POST /v1/chat/completions", "POST /v1/completions"):
            body = json.loads(content)
            if self.prefill == "refused" and "continue_final_message" in body:
                return failure(422, "Unexpected keys: continue_final_message")
            if "continue_final_message" in body and body.get("max_tokens") == 1:
                probed = completion_body("x")
                if self.prefill == "continued":
                    tokens = 20 + (not body["continue_final_message"])
                    probed["usage"]["prompt_tokens"] = tokens
                return as_json(probed)
            prompt = prompt_of(body)
            received = Received(
                path, headers, body, self.counts[prompt], time.monotonic()
            )
            self.counts[prompt] += 1
            if self.record:
                self.requests.append(received)
            return self.behaviour(received)
        if path.startswith(("/v1/files", "/v1/batches")):
            return self.batch_mode(method, path, headers, content)
        if route == "GET /v1/models":
            return self.listing
        return failure(404, f"Unknown request URL: {route}")

    def batch_mode(
        self, method: str, path: str, headers: dict[str, str], content: bytes
    ) -> Reply:
        """OpenAI's files and batches; a batch ends at the `batch_polls`-th look at it."""
        _, _, kind, *names = path.split("/")
        if (method, path) == ("POST", "/v1/files"):
            boundary = headers["content-type"].partition("boundary=")[2].encode()
            parts = content.split(b"--" + boundary)
            [file] = [part for part in parts if b"filename=" in part]
            name = f"file-{len(self.files)}"
            self.files[name] = file.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
            facts = {"id": name, "object": "file", "filename": "f", "purpose": "batch"}
            return as_json(facts | {"bytes": 1, "created_at": 0})
        if kind == "files":
            return Reply(self.files[names[0]], content_type="application/octet-stream")
        if method == "POST":
            file = json.loads(content)["input_file_id"]
            self.batches.append({"input": file, "looks": 0})
            return as_json(self.batch_body(len(self.batches) - 1))
        number = int(names[0].removeprefix("batch_"))
        batch = self.batches[number]
        batch["looks"] += 1
        if batch["looks"] == self.batch_polls:
            lines = b""
            for line in self.files[batch["input"]].splitlines():
                row = json.loads(line)
                body = json.dumps(row["body"]).encode()
                reply = self.reply("POST", row["url"], {}, body)
                answer = {"status_code": reply.status, "body": json.loads(reply.body)}
                row = {"custom_id": row["custom_id"], "response": answer, "error": None}
                lines += json.dumps(row).encode() + b"\n"
            self.files[f"out-{number}"] = lines
        return as_json(self.batch_body(number))

    def batch_body(self, number: int) -> dict[str, Any]:
        done = self.batches[number]["looks"] >= self.batch_polls
        return {
            "id": f"batch_{number}",
            "object": "batch",
            "completion_window": "24h",
            "created_at": 0,
            "endpoint": "/v1/chat/completions",
            "input_file_id": self.batches[number]["input"],
            "status": "completed" if done else "in_progress",
            "output_file_id": f"out-{number}" if done else None,
        }


class _Connection(asyncio.Protocol):
    """One kept-alive connection: a request is read whole, answered, then the next one."""

    transport: asyncio.Transport

    def __init__(self, server: OpenAIServer, loop: asyncio.AbstractEventLoop) -> None:
        self.server = server
        self.loop = loop
        self.buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections.add(self)
        self.server.connections_made += 1
        self.server.most_connections = max(
            self.server.most_connections, len(self.server.connections)
        )

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self.server.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        first, *lines = self.buffer[:end].decode("latin-1").split("\r\n")
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        total = end + 4 + int(headers.get("content-length", 0))
        if len(self.buffer) < total:
            return
        content = bytes(self.buffer[end + 4 : total])
        del self.buffer[:total]
        method, path, _ = first.split(" ")
        try:
            reply = self.server.reply(method, path, headers, content)
        except Exception as error:
            # Raised where the test can see it, when the block is left.
            self.server.error = error
            reply = failure(500, f"the test's behaviour failed: {error!r}")
        if reply.delay:
            self.loop.call_later(reply.delay, self.send, reply)
        else:
            self.send(reply)

    def send(self, reply: Reply) -> None:
        if reply.until and not reply.until():
            self.loop.call_later(0.01, self.send, reply)
            return
        if reply.hang_up:
            self.transport.close()
            return
        headers = {
            "Content-Type": reply.content_type,
            "Content-Length": str(len(reply.body)),
            **reply.headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        status = f"{reply.status} {HTTPStatus(reply.status).phrase}"
        head = f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1")
        if reply.drip:
            self.transport.write(head)
            self.drip(reply, 0)
        else:
            self.transport.write(head + reply.body[: reply.cut])
        if reply.cut is not None:
            self.transport.close()

    def drip(self, reply: Reply, sent: int) -> None:
        if sent < len(reply.body) and not self.transport.is_closing():
            self.transport.write(reply.body[sent : sent + 1])
            self.loop.call_later(reply.drip, self.drip, reply, sent + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description="A loopback server that echoes.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument(
        "--delay", type=float, default=0.0, help="seconds before each answer"
    )
    arguments = parser.parse_args()

    def delayed_echo(received: Received) -> Reply:
        return completion(echo_text(received.prompt), delay=arguments.delay)

    async def serve() -> None:
        server = OpenAIServer(delayed_echo, arguments.port, record=False)
        listening = await server.start()
        print(server.base_url, flush=True)
        await listening.serve_forever()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
