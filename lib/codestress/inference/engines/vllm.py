"""The engine of vLLM in this process: offline batches on the GPU (or CPU) of this machine.

Needs the extra `serve` (environment-gpu.yml). A batch's requests share prefixes in vLLM's own cache.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from itertools import groupby
from typing import Any, Literal

from pydantic import Field

from codestress.errors import EngineError, ParameterError
from codestress.inference.engines.base import BatchEngine, RequestFailed, conversation, served_identity
from codestress.inference.registry import ModelEntry
from codestress.types import Request, Response, Usage, now
from codestress.validation import Strict

identity = served_identity


class Settings(Strict):
    """A row's `settings` in params/models.yaml; also what `make serve` starts a server with."""

    model: str = ""
    """Where the weights are: a name on the hub, or a folder; empty: the row's id."""
    revision: str = ""
    """A commit on the hub; empty: the newest."""
    batch: int = Field(default=1000, ge=1)
    """Requests in one call: what is lost at most when the process is killed."""
    tensor_parallel: int = Field(default=1, ge=1)
    """GPUs that hold one copy of the model."""
    data_parallel: int = Field(default=1, ge=1)
    """Copies of the model side by side, for `make serve`."""
    max_model_len: int | None = Field(default=None, gt=0)
    """Longest prompt and answer together, in tokens; empty: the model's own."""
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "auto"
    quantization: Literal["", "fp8"] = ""
    """Of weights that are stored without; empty: as they are stored."""
    enforce_eager: bool = False
    """Starts sooner, runs slower."""
    batch_invariant: bool = False
    """Answers that do not depend on what else is in the batch (VLLM_BATCH_INVARIANT): slower, newer GPUs only."""


class VLLMEngine(BatchEngine):
    """One model in this process."""

    def __init__(self, entry: ModelEntry, settings: Settings) -> None:
        try:
            import vllm
        except ImportError:
            raise EngineError(
                f"{entry.name}: vllm is not installed here. On a GPU machine: conda env create -f environment-gpu.yml; "
                "elsewhere use engine: openai and the address of a vLLM server."
            ) from None
        self.batch = settings.batch
        self._vllm = vllm
        self._entry = entry
        if settings.batch_invariant:
            os.environ["VLLM_BATCH_INVARIANT"] = "1"
        try:
            self._model = vllm.LLM(**arguments(entry, settings), disable_log_stats=True)
        except Exception as error:  # whatever vLLM raises: nothing can be asked
            raise EngineError(f"{entry.name}: vLLM cannot load {settings.model or entry.id}: {error}") from None
        invariant = " batch-invariant" if settings.batch_invariant else ""
        self._answered_by = f"{entry.id} vllm {vllm.__version__}{invariant}"

    async def answers(self, requests: Sequence[Request]) -> AsyncIterator[tuple[Request, Response | RequestFailed]]:
        """The batch in at most two calls: with and without a begun answer."""
        ordered = sorted(requests, key=lambda request: bool(request.prompt.prefill))
        for begun, group in groupby(ordered, key=lambda request: bool(request.prompt.prefill)):
            part = list(group)
            started = time.monotonic()
            outputs = await asyncio.to_thread(self._generate, part, begun)
            seconds = (time.monotonic() - started) / len(part)
            for request, output in zip(part, outputs, strict=True):
                yield request, self._outcome(output, seconds)

    async def close(self) -> None:
        del self._model

    def _generate(self, requests: list[Request], begun: bool) -> list[Any]:
        sampling = [
            self._vllm.SamplingParams(
                temperature=one.temperature,
                top_p=one.top_p,
                max_tokens=one.max_tokens,
                stop=list(one.stop),
                seed=request.sample if one.temperature else None,
            )
            for request in requests
            for one in [request.prompt.sampling]
        ]
        outputs: list[Any] = self._model.chat(
            [conversation(request.prompt, request.prompt.prefill) for request in requests],
            sampling,
            use_tqdm=False,
            add_generation_prompt=not begun,
            continue_final_message=begun,
        )
        return outputs

    def _outcome(self, output: Any, seconds: float) -> Response | RequestFailed:
        answer = output.outputs[0]
        if answer.finish_reason not in ("stop", "length"):
            return RequestFailed(f"{self._entry.name}: vLLM ended the answer with {answer.finish_reason!r}")
        return Response(
            text=answer.text,
            finish_reason=answer.finish_reason,
            usage=Usage(
                prompt_tokens=len(output.prompt_token_ids or ()),
                completion_tokens=len(answer.token_ids),
                cached_tokens=output.num_cached_tokens,
            ),
            seconds=seconds,
            answered_by=self._answered_by,
            answered_at=now(),
        )


def arguments(entry: ModelEntry, settings: Settings) -> dict[str, Any]:
    """Of `vllm.LLM`, and of a server."""
    return {
        "model": settings.model or entry.id,
        "revision": settings.revision or None,
        "tensor_parallel_size": settings.tensor_parallel,
        "max_model_len": settings.max_model_len,
        "dtype": settings.dtype,
        "quantization": settings.quantization or None,
        "enforce_eager": settings.enforce_eager,
        "enable_prefix_caching": True,
        "seed": 0,
    }


def server_command(entry: ModelEntry, python: str, port: int) -> tuple[list[str], dict[str, str]]:
    """vLLM's OpenAI-compatible server as this kit needs it, and what must stand in its environment.

    The model's own defaults for sampling are left out: they would come on top of what the papers say.
    """
    if entry.local or entry.needs_key:
        raise ParameterError(f"{entry.name}: its weights cannot be served here (engine {entry.engine})")
    settings = Settings.model_validate(entry.settings if entry.engine == "vllm" else entry.serve)
    flags = arguments(entry, settings) | {
        "served_model_name": entry.id,
        "host": "127.0.0.1",
        "port": port,
        "data_parallel_size": settings.data_parallel,
        "generation_config": "vllm",
        "enable_prompt_tokens_details": True,
    }
    command = [python, "-m", "vllm.entrypoints.openai.api_server"]
    for name, value in flags.items():
        if value is not None and value is not False:
            command += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return command, {"VLLM_BATCH_INVARIANT": "1"} if settings.batch_invariant else {}


def open_engine(entry: ModelEntry) -> VLLMEngine:
    """The model that a row of the registry describes."""
    return VLLMEngine(entry, Settings.model_validate(entry.settings))
