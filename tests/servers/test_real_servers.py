"""Real servers: `make test-vllm` (opt-in, gigabytes). One small study gives the same through every engine.

A vLLM server, vLLM in process, Ray with HTTP workers and with vLLM workers, `transformers serve`, and an archive; with
prefill, and vLLM's own counters of its prefix cache.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import re
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codestress.errors import EngineError
from codestress.inference.engines.openai import open_engine
from codestress.inference.engines.vllm import server_command
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.requests import request_of
from codestress.inference.run import run
from codestress.inference.store import Store
from codestress.nano.model import Nano
from codestress.types import Outcome, Prompt, Score, Trial, Trials
from conftest import ROOT, ran
from served import prompt, trials_of
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
    whole(ran(PYTHON, HERE / "make_checkpoint.py", folder, env=environment()))
    return Checkpoint(folder)


def whole(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines that a command printed, which must not fail."""
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.splitlines()


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
def server(command: list[str], port: int, log: Path) -> Iterator[str]:
    """Runs it until the block is left; its base URL. Its whole process group ends with it."""
    with log.open("w") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=out, env=environment(), start_new_session=True
        )
    base_url = f"http://127.0.0.1:{port}/v1"
    try:
        deadline = time.monotonic() + WAIT_S
        while True:
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < deadline, log.read_text()[-3000:]
            try:
                urllib.request.urlopen(f"{base_url}/models", timeout=2).read()
                break
            except OSError:
                time.sleep(0.5)
        yield base_url
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
    with server([*command, *more], port, log) as base_url:
        yield base_url


def asking(folder: Path, row: dict[str, Any], name: str) -> dict[str, Any]:
    """The command that runs a small study through a registry row, and its environment."""
    registry = folder / f"{name}.yaml"
    registry.write_text(json.dumps({"tiny": row}))
    store = folder / f"{name}.sqlite"
    command = [PYTHON, HERE / "ask.py", registry, "tiny", store]
    env = environment(CODESTRESS_OUTPUTS=str(folder / "outputs"))
    return {"args": [*map(str, command)], "env": env}


def study(folder: Path, row: dict[str, Any], name: str) -> dict[str, Any]:
    """The results of a small study of a registry row, asked in the servers' environment."""
    how = asking(folder, row, name)
    for _ in range(RAY_STARTS):
        done = ran(*how["args"], env=how["env"])
        if done.returncode == 0 or "Ray" not in done.stderr:
            break
    return found_in(whole(done))


def found_in(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(lines[-1])
    return found


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
            lines = whole(ran("ps", "-eo", "pid,args"))
            workers = {int(one.split()[0]) for one in lines if "MapWorker" in one}
            for pid in [*workers - killed][: 2 - len(killed)]:
                if answered(tmp_path / "cluster.sqlite"):
                    os.kill(pid, signal.SIGKILL)
                    killed.add(pid)
            time.sleep(0.05)
        out, _ = process.communicate(timeout=WAIT_S)
    assert killed
    assert found_in(out.splitlines())["texts"] == served["texts"]


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
        number, place = (int(trial.factors[name] or 0) for name in ("number", "place"))
        parts = [
            f"def other_{number}_{n}(x):\n    return x * {n * 37 + number} + len('{n} of {number}')\n\n\n"
            for n in range(30)
        ]
        wanted = f"def wanted_{number}(x):\n    return x + {number}\n\n\n"
        parts.insert(place * 3, wanted)
        return prompt("".join(parts), max_tokens=1)

    items = [
        Trial(str(n), {"number": n, "place": p}) for p in range(11) for n in range(12)
    ]
    trials = Trials(items, render, {"strict": lambda *_: Score(Outcome.CORRECT, 1.0)})

    def counters(base_url: str) -> tuple[float, float]:
        url = base_url.removesuffix("/v1") + "/metrics"
        text = urllib.request.urlopen(url).read().decode()
        sign = r"^vllm:prefix_cache_{}_total\S* (\S+)"
        queries, hits = (
            re.findall(sign.replace("{}", name), text, re.M)[0]
            for name in ("queries", "hits")
        )
        return float(queries), float(hits)

    saved = {}
    tokens: list[list[int]] = []
    flags = f"--block-size {block} --num-gpu-blocks-override {blocks}"
    flags += " --max-model-len 3000 --max-num-seqs 2"
    log, store = tmp_path / "server.log", tmp_path / "ordered.sqlite"
    for order in ("by prefix", "shuffled"):
        with vllm_server(checkpoint, log, *flags.split()) as base_url:
            row = checkpoint.row("openai", base_url=base_url, key_env="", concurrency=1)
            registry = tmp_path / "served.yaml"
            registry.write_text(json.dumps({"tiny": row}))
            if order == "by prefix":
                model = str(checkpoint.folder)
                tokens = [tokenized(base_url, model, render(trial)) for trial in items]
                run(trials, ["tiny"], store=store, registry=registry)
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
    pairs = zip(one, two, strict=False)
    return len([*itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)])


def tokenized(base_url: str, model: str, prompt: Prompt) -> list[int]:
    """The prompt's tokens as the server makes them."""
    messages = [{"role": "user", "content": prompt.messages[0].content}]
    request = urllib.request.Request(
        base_url.removesuffix("/v1") + "/tokenize",
        json.dumps({"model": model, "messages": messages}).encode(),
        {"Content-Type": "application/json"},
    )
    found: list[int] = json.loads(urllib.request.urlopen(request).read())["tokens"]
    return found


def shuffled(trials: Trials, entry: ModelEntry) -> None:
    """All requests in an order of chance, two at a time: what happens without an order."""
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
def test_the_kit_s_transformer_is_the_same_elsewhere(other: str) -> None:
    """200 prompts: the same tokens, logits within 1e-3 of transformers', and the same greedy texts."""
    lines = whole(ran(PYTHON, HERE / "nano_texts.py", other, env=environment()))
    # VLLM prints its own besides.
    [line] = [line for line in lines if line.startswith('{"asked"')]
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
        small = {"evaluate_every": 5, "batch_tokens": 256, "workers": 2}
        settings.write_text(json.dumps(small | text))
        command = [PYTHON, ROOT / "bench" / "nano" / "train.py", "--settings", settings]
        return ran(*command, "--run", run, *more, env=environment())

    steps = []
    for hours in (0.01, 0.015):
        whole(trained({"hours": hours, "shape": shape, "stages": [stage]}))
        manifest = json.loads((run / "weights" / "manifest.json").read_text())
        steps.append(manifest["steps"])
        logged = [row["step"] for row in manifest["log"]]
        assert logged == [*range(5, steps[-1] + 1, 5)]
    assert 0 < steps[0] < steps[1]
    nano, other = Nano(run / "weights"), tmp_path / "other"
    assert len(nano.logits([1, 2, 3])) == nano.shape.vocab_size
    begun = ("--from", str(run / "weights"))
    text = {"hours": 0.005, "shape": shape, "stages": [stage]}
    whole(trained(text, other, *begun))
    first, second = ((at / "tokenizer.json").read_bytes() for at in (run, other))
    assert first == second
    log = json.loads((other / "weights/manifest.json").read_text())["log"]
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
