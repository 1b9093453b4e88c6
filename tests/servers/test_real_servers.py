"""Real servers: `make test-vllm` (opt-in, gigabytes). One small study gives the same through every engine.

A vLLM server, vLLM in process, Ray with HTTP workers and with vLLM workers, `transformers serve`, and an archive.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from real_servers import (
    HERE,
    PYTHON,
    WAIT_S,
    Checkpoint,
    asking,
    checkpoint,
    environment,
    free_port,
    lines_of,
    needs_vllm,
    printed,
    server,
    study,
    vllm_server,
)

from codestress.errors import EngineError
from codestress.inference.run import run
from codestress.inference.store import Store
from conftest import ran
from served import prompt, trials_of
from told import refused

__all__ = ["checkpoint"]
pytestmark = needs_vllm


def test_one_study_gives_the_same_through_every_engine(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    with vllm_server(checkpoint, tmp_path / "server.log") as base_url:
        http = {"base_url": base_url, "key_env": "", "concurrency": 4}
        row = checkpoint.row("openai", prefill="vllm", **http)
        served = study(tmp_path, row, "served")
        assert served["asked"] == len(served["texts"]) > 10
        assert served["cached"] > 0
        worker = {"engine": "openai", "settings": {"prefill": "vllm", **http}}
        workers = checkpoint.row("ray", worker=worker, task=5, cpus=0.4)
        cluster = study(tmp_path, workers, "cluster")
    local = {
        "model": str(checkpoint.folder),
        "max_model_len": 8192,
        "enforce_eager": True,
    }
    in_process = study(tmp_path, checkpoint.row("vllm", **local), "in_process")
    worker = {"engine": "vllm", "settings": local}
    workers = checkpoint.row("ray", worker=worker, workers=1, task=100, cpus=0.4)
    batch = study(tmp_path, workers, "batch")
    # The archive of the first rebuilds it with no server at all.
    known = study(tmp_path, row | {"archive": "served.jsonl.gz"}, "known")
    for other in (cluster, in_process, batch, known):
        assert other["texts"] == served["texts"]
        assert other["counts"] == served["counts"]
    assert known["asked"] == 0


def test_a_worker_killed_in_the_middle_costs_nothing_but_time(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    """Ray with HTTP workers; each worker that is found once is killed while it works."""
    with vllm_server(checkpoint, tmp_path / "server.log") as base_url:
        http = {"base_url": base_url, "key_env": "", "concurrency": 1}
        http["prefill"] = "vllm"
        served = study(tmp_path, checkpoint.row("openai", **http), "served")
        worker = {"engine": "openai", "settings": http}
        row = checkpoint.row("ray", worker=worker, task=1, cpus=0.4)
        process = subprocess.Popen(
            **asking(tmp_path, row, "cluster"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        killed = set[int]()
        while process.poll() is None and len(killed) < 2:
            lines = lines_of(ran("ps", "-eo", "pid,args"))
            workers = {int(line.split()[0]) for line in lines if "MapWorker" in line}
            for pid in [*workers - killed][: 2 - len(killed)]:
                if stored(tmp_path / "cluster.sqlite"):
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)
            time.sleep(0.05)
        out, _ = process.communicate(timeout=WAIT_S)
    assert killed
    assert printed(out.splitlines())["texts"] == served["texts"]


def stored(path: Path) -> int:
    """Return the number of answers in a store that may not be there yet."""
    if not path.is_file():
        return 0
    with Store(path) as store:
        return store.count()


def test_transformers_serve_answers_and_a_begun_answer_goes_by_completions(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    port = free_port()
    script = str(Path(PYTHON).with_name("transformers"))
    command = [PYTHON, script, "serve", str(checkpoint.folder), "--port", str(port)]
    command += ["--host", "127.0.0.1", "--device", "cpu"]
    texts = [f"Say {n}." for n in range(6)]
    trials, begun = (
        trials_of(*[prompt(text, prefill, max_tokens=8) for text in texts])
        for prefill in ("", "It is")
    )
    with server(command, port, tmp_path / "server.log") as base_url:
        http = {"base_url": base_url, "key_env": "", "concurrency": 2}
        registry = tmp_path / "models.yaml"
        rows = {
            "chat": checkpoint.row("openai", **http),
            "continued": checkpoint.row("openai", prefill="vllm", **http),
            "rendered": checkpoint.row(
                "openai", endpoint="completions", chat_template="chatml.jinja", **http
            ),
        }
        registry.write_text(json.dumps(rows))
        where: dict[str, Any] = {"store": tmp_path / "s.sqlite", "registry": registry}
        assert run(trials, ["chat"], **where).asked == 6
        with refused(EngineError, "continued", "begun", "completions"):
            run(begun, ["continued"], **where)
        results = run(begun, ["rendered"], **where)
        assert results.asked == 6
        assert results.answers["detail_strict"].all()


@pytest.mark.parametrize("other", ["transformers", "vllm"])
def test_the_kits_transformer_is_the_same_elsewhere(other: str) -> None:
    """200 prompts: the same tokens, logits within 1e-3 of transformers', and the same greedy texts."""
    lines = lines_of(ran(PYTHON, HERE / "nano_texts.py", other, env=environment()))
    # VLLM prints its own besides.
    [line] = [line for line in lines if line.startswith('{"asked"')]
    result = json.loads(line)
    assert result["asked"] == 200
    assert result.get("apart", 0) < 1e-3
    assert not result["different"]
