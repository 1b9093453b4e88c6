"""The engine of vLLM in this process: offline batches on this machine's GPU (or CPU).

The engine needs the extra `serve` (environment-gpu.yml). The requests of a batch share
prefixes in vLLM's own cache.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from codestress.errors import EngineError
from codestress.types import Request, Response, Usage, now
from codestress.validation import Strict

from ..registry import ModelEntry
from .base import (
    BatchEngine,
    Outcomes,
    RequestFailed,
    conversation,
)


class Settings(Strict):
    """A registry row's `settings` for the engine `vllm` (params/models.yaml); `make
    serve` starts a server with the same settings."""

    model: str = ""
    """Source of the weights: a name on the Hugging Face hub, or a folder; the row's id
    if empty."""
    revision: str = ""
    """Commit on the hub; the newest if empty."""
    tensor_parallel: int = Field(default=1, ge=1)
    """Number of GPUs that hold one copy of the model."""
    data_parallel: int = Field(default=1, ge=1)
    """Number of copies of the model that run side by side, for `make serve`."""
    max_model_len: int | None = Field(default=None, gt=0)
    """Maximum length of prompt and completion together, in tokens; None means the
    model's own limit."""
    quantization: Literal["", "fp8"] = ""
    """Quantization of weights that are stored unquantized; if empty, the weights stay
    as stored."""
    enforce_eager: bool = False
    """Whether vLLM runs without CUDA graphs, so that it starts sooner and runs slower.
    """


class VLLMEngine(BatchEngine):
    """An engine that runs one model with vLLM in this process.

    Raises `EngineError` if vLLM is not installed or cannot load the model.
    """

    concurrency = 1000

    def __init__(self, entry: ModelEntry) -> None:
        try:
            import vllm
        except ImportError:
            raise EngineError(
                f"{entry.name}: vllm is not installed here. On a GPU machine: conda env create -f environment-gpu.yml; "
                "elsewhere use engine: openai and the address of a vLLM server."
            ) from None
        super().__init__(entry)
        settings = Settings.model_validate(entry.settings)
        self._vllm = vllm
        try:
            self._model = vllm.LLM(**arguments(entry, settings), disable_log_stats=True)
        except Exception as error:  # vLLM raises many types; no request can succeed
            raise EngineError(
                f"{entry.name}: vLLM cannot load {settings.model or entry.id}: {error}"
            ) from None
        self._answered_by = f"{entry.id} vllm {vllm.__version__}"

    async def answers(self, requests: Sequence[Request]) -> Outcomes:
        """Yield responses and failures from at most two calls of vLLM: one for requests
        without a begun answer, one for requests with a begun answer."""
        for begun in (False, True):
            part = [
                request for request in requests if bool(request.prompt.prefill) is begun
            ]
            if not part:
                continue
            started = time.monotonic()
            outputs = await asyncio.to_thread(self._generate, part, begun)
            seconds = (time.monotonic() - started) / len(part)
            for request, output in zip(part, outputs, strict=True):
                yield request.key, self._outcome(output, seconds)

    async def close(self) -> None:
        await super().close()
        del self._model

    def _generate(self, requests: list[Request], begun: bool) -> list[Any]:
        conversations, parameters = [], []
        for request in requests:
            prompt = request.prompt
            conversations.append(conversation(prompt, prompt.prefill))
            settings = {**vars(prompt.sampling), "stop": list(prompt.sampling.stop)}
            seed = request.sample if prompt.sampling.temperature else None
            parameters.append(self._vllm.SamplingParams(**settings, seed=seed))
        outputs = self._model.chat(
            conversations,
            parameters,
            use_tqdm=False,
            add_generation_prompt=not begun,
            continue_final_message=begun,
        )
        return list(outputs)

    def _outcome(self, output: Any, seconds: float) -> Response | RequestFailed:
        answer = output.outputs[0]
        if answer.finish_reason not in ("stop", "length"):
            return RequestFailed(
                f"{self.entry.name}: vLLM ended the answer with {answer.finish_reason!r}"
            )
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
    """Return a dict from name to value of the arguments of `vllm.LLM` for the registry
    row `entry` and `settings` of the engine `vllm`.

    A server takes the same arguments.
    """
    return {
        "model": settings.model or entry.id,
        "revision": settings.revision or None,
        "tensor_parallel_size": settings.tensor_parallel,
        "max_model_len": settings.max_model_len,
        "quantization": settings.quantization or None,
        "enforce_eager": settings.enforce_eager,
        "enable_prefix_caching": True,
        "seed": 0,
    }


def server_command(entry: ModelEntry, python: str, port: int) -> list[str]:
    """Return the command line of vLLM's OpenAI-compatible server, on `port` of this
    machine, for the model of the registry row `entry`.

    `python` is the interpreter that runs the server. The model's own sampling defaults
    are left out: they would be added to the papers' settings.
    """
    settings = Settings.model_validate(
        entry.settings if entry.engine == "vllm" else entry.serve
    )
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
        if value is None or value is False:
            continue
        command.append(f"--{name.replace('_', '-')}")
        if value is not True:
            command.append(str(value))
    return command


open_engine = VLLMEngine
