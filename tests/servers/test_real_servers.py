"""Real servers: `make test-vllm` (opt-in, gigabytes). One small study gives the same through every engine.

A vLLM server, vLLM in process, Ray with HTTP workers and with vLLM workers, `transformers serve`, and an archive; with
prefill, and vLLM's own counters of its prefix cache.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codestress.errors import EngineError
from codestress.inference.engines.vllm import server_command
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.requests import request_of
from codestress.inference.run import run
from codestress.inference.store import Store
from codestress.nano.model import Nano
from codestress.types import Message, Outcome, Prompt, Sampling, Score, Trial, Trials
from told import names, refused

HERE = Path(__file__).parent
PYTHON = os.environ.get("CODESTRESS_VLLM_PYTHON", "")
WAIT_S = 3600
"""Seconds after which a process is thought to hang; other work may slow it many times."""
RAY_STARTS = 10
"""Ray gives up after 30 seconds; on a busy machine it takes longer to start."""

pytestmark = pytest.mark.skipif(
    not PYTHON, reason="real servers are checked by `make test-vllm`"
)


@dataclass(frozen=True)
class Checkpoint:
    folder: Path

    def row(self, engine: str, **settings: Any) -> dict[str, Any]:
        """A registry row for it; every engine has the same id, so the same keys."""
        return {"engine": engine, "id": str(self.folder), "settings": settings}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    folder = tmp_path_factory.mktemp("checkpoint") / "tiny"
    subprocess.run(
        [PYTHON, str(HERE / "make_checkpoint.py"), str(folder)],
        check=True,
        timeout=WAIT_S,
        env=environment(),
    )
    return Checkpoint(folder)


def environment(**more: str) -> dict[str, str]:
    hub = Path(tempfile.gettempdir()) / "codestress-empty-hub"
    hub.mkdir(exist_ok=True)  # `transformers serve` lists it, and fails where it is not
    offline = {
        "HF_HUB_CACHE": str(hub),
        "HF_HUB_OFFLINE": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "NO_PROXY": "*",
        "VLLM_NO_USAGE_STATS": "1",
    }
    return {**os.environ, **offline, **more}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def server(
    command: list[str], port: int, log: Path, env: dict[str, str] | None = None
) -> Iterator[str]:
    """Runs it until the block is left; its base URL. Its whole process group ends with it."""
    with log.open("w") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            env=env or environment(),
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + WAIT_S
        while True:
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < deadline, (
                f"not up after {WAIT_S} s: {log.read_text()[-3000:]}"
            )
            try:
                urllib.request.urlopen(
                    f"http://127.0.0.1:{port}/v1/models", timeout=2
                ).read()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def vllm_server(checkpoint: Checkpoint, log: Path, *more: str) -> Iterator[str]:
    """As `make serve` starts it."""
    port = free_port()
    settings = {"max_model_len": 8192, "enforce_eager": True}
    entry = ModelEntry(
        name="tiny", id=str(checkpoint.folder), engine="vllm", settings=settings
    )
    command = server_command(entry, PYTHON, port)
    with server([*command, *more], port, log, environment()) as base_url:
        yield base_url


def study(folder: Path, row: dict[str, Any], name: str, **more: str) -> dict[str, Any]:
    """What a small study gives through a registry row, in the servers' environment."""
    registry = folder / f"{name}.yaml"
    registry.write_text(json.dumps({"tiny": row}))
    for _ in range(RAY_STARTS):
        done = subprocess.run(
            [
                PYTHON,
                str(HERE / "ask.py"),
                str(registry),
                "tiny",
                str(folder / f"{name}.sqlite"),
            ],
            capture_output=True,
            text=True,
            timeout=WAIT_S,
            env=environment(CODESTRESS_OUTPUTS=str(folder / "outputs"), **more),
            check=False,
        )
        if done.returncode == 0 or "Ray" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def test_one_study_gives_the_same_through_every_engine(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    with vllm_server(checkpoint, tmp_path / "server.log") as base_url:
        http = {"base_url": base_url, "key_env": "", "concurrency": 4}
        served = study(
            tmp_path, checkpoint.row("openai", prefill="vllm", **http), "served"
        )
        assert served["asked"] == len(served["texts"]) > 10
        assert served["cached"] > 0
        worker = {"engine": "openai", "settings": {"prefill": "vllm", **http}}
        cluster = study(
            tmp_path, checkpoint.row("ray", worker=worker, task=5, cpus=0.4), "cluster"
        )
        assert cluster["texts"] == served["texts"]
        template = HERE.parents[1] / "params" / "templates"
        assert (template / "chatml.jinja").is_file()
    local = {
        "model": str(checkpoint.folder),
        "max_model_len": 8192,
        "enforce_eager": True,
    }
    in_process = study(tmp_path, checkpoint.row("vllm", **local), "in_process")
    assert in_process["texts"] == served["texts"]
    workers = {"engine": "vllm", "settings": local}
    batch = study(
        tmp_path,
        checkpoint.row("ray", worker=workers, workers=1, task=100, cpus=0.4),
        "batch",
    )
    assert batch["texts"] == served["texts"]
    for other in (cluster, in_process, batch):
        assert other["counts"] == served["counts"]

    # The archive of the first rebuilds it with no server at all.
    row = checkpoint.row("openai", prefill="vllm", **http)
    known = study(tmp_path, row | {"archive": "served.jsonl.gz"}, "known")
    assert (known["texts"], known["counts"]) == (served["texts"], served["counts"])
    assert known["asked"] == 0


def test_a_worker_killed_in_the_middle_costs_nothing_but_time(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    """Ray with HTTP workers; each worker that is found once is killed while it works."""
    with vllm_server(checkpoint, tmp_path / "server.log") as base_url:
        http = {
            "base_url": base_url,
            "key_env": "",
            "concurrency": 1,
            "prefill": "vllm",
        }
        served = study(tmp_path, checkpoint.row("openai", **http), "served")
        registry = tmp_path / "cluster.yaml"
        worker = {"engine": "openai", "settings": http}
        registry.write_text(
            json.dumps({"tiny": checkpoint.row("ray", worker=worker, task=1, cpus=0.4)})
        )
        process = subprocess.Popen(
            [
                PYTHON,
                str(HERE / "ask.py"),
                str(registry),
                "tiny",
                str(tmp_path / "cluster.sqlite"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment(CODESTRESS_OUTPUTS=str(tmp_path / "outputs")),
        )
        killed = set[int]()
        while process.poll() is None and len(killed) < 2:
            out = subprocess.run(
                ["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True
            ).stdout
            for line in out.splitlines():
                pid = (
                    int(line.split()[0])
                    if "MapWorker" in line and line.split()[0].isdigit()
                    else 0
                )
                if (
                    pid
                    and pid not in killed
                    and len(killed) < 2
                    and answered(tmp_path / "cluster.sqlite")
                ):
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)
            time.sleep(0.05)
        out, _ = process.communicate(timeout=WAIT_S)
    assert killed
    assert json.loads(out.strip().splitlines()[-1])["texts"] == served["texts"]


def answered(path: Path) -> int:
    """Answers that the store in a file has by now."""
    if not path.is_file():
        return 0
    with Store(path) as store:
        return store.count()


def test_the_order_saves_what_the_tree_of_prefixes_allows(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    """By vLLM's own counters, with a cache much smaller than the study, against shuffled order."""
    block, blocks, total = 32, 210, 0  # tokens: the smallest that vLLM's CPU build has

    def render(trial: Trial) -> Prompt:
        number, place = (
            int(trial.factors["number"] or 0),
            int(trial.factors["place"] or 0),
        )
        parts = [
            f"def other_{number}_{n}(x):\n    return x * {n * 37 + number} + len('{n} of {number}')\n\n\n"
            for n in range(30)
        ]
        parts.insert(
            place * 3, f"def wanted_{number}(x):\n    return x + {number}\n\n\n"
        )
        return Prompt((Message("user", "".join(parts)),), Sampling(max_tokens=1))

    items = [
        Trial(str(n), {"number": n, "place": p}) for p in range(11) for n in range(12)
    ]
    trials = Trials(items, render, {"strict": lambda *_: Score(Outcome.CORRECT, 1.0)})

    def counters(base_url: str) -> tuple[float, float]:
        text = (
            urllib.request.urlopen(base_url.removesuffix("/v1") + "/metrics")
            .read()
            .decode()
        )
        found = [
            re.search(rf"^vllm:prefix_cache_{name}_total\S* (\S+)", text, re.M)
            for name in ("queries", "hits")
        ]
        assert all(found)
        return tuple(float(one[1]) for one in found if one)  # type: ignore[return-value]

    saved = {}
    tokens: list[list[int]] = []
    flags = (
        "--block-size",
        str(block),
        "--num-gpu-blocks-override",
        str(blocks),
        "--max-model-len",
        "3000",
    )
    for order in ("by prefix", "shuffled"):
        with vllm_server(
            checkpoint, tmp_path / "server.log", *flags, "--max-num-seqs", "2"
        ) as base_url:
            settings = {"base_url": base_url, "key_env": "", "concurrency": 1}
            registry = tmp_path / "served.yaml"
            registry.write_text(
                json.dumps({"tiny": checkpoint.row("openai", **settings)})
            )
            if order == "by prefix":
                tokens = [
                    tokenized(base_url, str(checkpoint.folder), render(trial))
                    for trial in items
                ]
                run(
                    trials,
                    ["tiny"],
                    store=tmp_path / "ordered.sqlite",
                    registry=registry,
                )
            else:
                shuffled(trials, load_registry(registry)["tiny"])
            queries, hits = counters(base_url)
            saved[order], total = hits / queries, int(queries)
    longest = max(map(len, tokens))
    shared = sum(
        common(*pair) // block * block for pair in itertools.pairwise(sorted(tokens))
    )
    possible = shared / sum(map(len, tokens))
    print(
        f"\nprefix cache of vLLM, {len(items)} prompts of up to {longest} tokens, {total:,} tokens, cache of "
        f"{blocks * block:,} tokens: saved {saved['by prefix']:.1%} by prefix, {saved['shuffled']:.1%} shuffled; "
        f"the tree of full blocks allows {possible:.1%}"
    )
    assert saved["by prefix"] >= 0.95 * possible
    assert saved["shuffled"] < 0.5 * possible


def common(one: list[int], two: list[int]) -> int:
    """Tokens that two prompts share from their beginning on."""
    return sum(
        1
        for _ in itertools.takewhile(
            lambda pair: pair[0] == pair[1], zip(one, two, strict=False)
        )
    )


def tokenized(base_url: str, model: str, prompt: Prompt) -> list[int]:
    """The prompt's tokens as the server makes them."""
    body = json.dumps(
        {
            "model": model,
            "messages": [{"role": "user", "content": prompt.messages[0].content}],
        }
    ).encode()
    request = urllib.request.Request(
        base_url.removesuffix("/v1") + "/tokenize",
        body,
        {"Content-Type": "application/json"},
    )
    found: list[int] = json.loads(urllib.request.urlopen(request).read())["tokens"]
    return found


def shuffled(trials: Trials, entry: ModelEntry) -> None:
    """All requests in an order of chance, two at a time: what happens without an order."""
    import asyncio
    import random

    from codestress.inference.engines.openai import open_engine

    requests = [request_of(trials, trial, entry) for trial in trials.items]
    random.Random(0).shuffle(requests)

    async def ask() -> None:
        engine = open_engine(entry)
        waiting = iter(requests)

        async def worker() -> None:
            for request in waiting:
                await engine.answer(request)

        await asyncio.gather(worker(), worker())
        await engine.close()

    asyncio.run(ask())


def test_transformers_serve_answers_and_a_begun_answer_goes_by_completions(
    checkpoint: Checkpoint, tmp_path: Path
) -> None:
    port = free_port()
    script = Path(PYTHON).with_name("transformers")
    command = [
        PYTHON,
        str(script),
        "serve",
        str(checkpoint.folder),
        "--port",
        str(port),
        "--host",
        "127.0.0.1",
    ]
    command += ["--device", "cpu"]
    trials = Trials(
        [Trial(str(n), {}) for n in range(6)],
        lambda trial: Prompt(
            (Message("user", f"Say {trial.problem}."),), Sampling(max_tokens=8), ""
        ),
        {"strict": lambda _, response: Score(Outcome.CORRECT, 1.0, response.text)},
    )
    begun = Trials(
        trials.items,
        lambda trial: Prompt(
            (Message("user", f"Say {trial.problem}."),), Sampling(max_tokens=8), "It is"
        ),
        trials.judges,
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
        assert (
            run(trials, ["chat"], store=tmp_path / "s.sqlite", registry=registry).asked
            == 6
        )
        with refused(EngineError, "continued", "begun", "completions"):
            run(begun, ["continued"], store=tmp_path / "s.sqlite", registry=registry)
        results = run(
            begun, ["rendered"], store=tmp_path / "s.sqlite", registry=registry
        )
        assert results.asked == 6
        assert results.answers["detail_strict"].all()


@pytest.mark.parametrize("other", ["transformers", "vllm"])
def test_the_kit_s_transformer_is_the_same_elsewhere(other: str) -> None:
    """200 prompts: the same tokens, logits within 1e-3 of transformers', and the same greedy texts."""
    done = subprocess.run(
        [PYTHON, str(HERE / "nano_texts.py"), other],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr[-3000:]
    # VLLM prints its own besides.
    [line] = [line for line in done.stdout.splitlines() if line.startswith('{"asked"')]
    found = json.loads(line)
    assert found["asked"] == 200
    assert found.get("apart", 0) < 1e-3
    assert not found["different"]


def test_a_transformer_is_trained_stopped_and_trained_on(tmp_path: Path) -> None:
    """Seconds of `make train-nano`: a checkpoint that goes on, and weights that the engine reads.

    Settings that do not fit the checkpoint, or each other, are refused, and it stays as it is.
    """
    settings, run = tmp_path / "tiny.yaml", tmp_path / "run"
    shape = {
        "hidden_size": 32,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "head_dim": 16,
        "intermediate_size": 64,
    }
    stage = {"tasks": {"copy": 1.0}, "fewest_lines": 1, "most_lines": 2}

    def trained(
        text: dict[str, Any], run: Path = run, *more: str
    ) -> subprocess.CompletedProcess[str]:
        settings.write_text(
            json.dumps({"evaluate_every": 5, "batch_tokens": 256, "workers": 2} | text)
        )
        script = Path(__file__).parents[2] / "bench" / "nano" / "train.py"
        command = [
            PYTHON,
            str(script),
            "--settings",
            str(settings),
            "--run",
            str(run),
            *more,
        ]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=WAIT_S, env=environment()
        )

    steps = []
    for hours in (0.01, 0.015):
        done = trained({"hours": hours, "shape": shape, "stages": [stage]})
        assert done.returncode == 0, done.stderr[-3000:]
        manifest = json.loads((run / "weights" / "manifest.json").read_text())
        steps.append(manifest["steps"])
        assert [row["step"] for row in manifest["log"]] == list(
            range(5, steps[-1] + 1, 5)
        )
    assert 0 < steps[0] < steps[1]
    assert (
        len(Nano(run / "weights").logits([1, 2, 3]))
        == Nano(run / "weights").shape.vocab_size
    )
    begun = ("--from", str(run / "weights"))
    done = trained(
        {"hours": 0.005, "shape": shape, "stages": [stage]}, tmp_path / "other", *begun
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "other/tokenizer.json").read_bytes() == (
        run / "tokenizer.json"
    ).read_bytes()
    log = json.loads((tmp_path / "other/weights/manifest.json").read_text())["log"]
    assert log[0]["loss"] < manifest["log"][0]["loss"]
    done = trained({"hours": 1, "stages": [stage]}, tmp_path / "third", *begun)
    assert done.returncode == 1
    names(done.stderr, run / "weights", "shape")
    last = f"checkpoint-{steps[-1]}/trainer_state.json"
    before = (run / last).read_bytes()
    for text, told in (
        ({"shape": shape | {"hidden_size": 64}, "stages": [stage]}, ("--run",)),
        ({"shape": shape, "stages": []}, ("stages",)),
        ({"shape": shape, "stages": [stage | {"tasks": {}}]}, ("tasks",)),
        (
            {"shape": shape, "stages": [stage | {"fewest_lines": 3}]},
            ("fewest_lines: 3", "most_lines: 2"),
        ),
        (
            {"shape": shape, "stages": [stage | {"until": {"semtrace": 0.5}}]},
            ("semtrace", "tasks"),
        ),
    ):
        done = trained({"hours": 1, **text})
        assert done.returncode == 1, done.stderr
        names(done.stderr, *told)
        assert "Traceback" not in done.stderr
    assert (run / last).read_bytes() == before
