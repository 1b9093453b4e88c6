"""Asks the kit's small transformer the same 200 questions in numpy and elsewhere: `python nano_texts.py transformers`.

Prints how far the logits after each prompt are apart, and which greedy answers differ. `vllm` compares texts alone.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from typing import Any

import numpy as np

from codestress.inference.engines.base import conversation
from codestress.nano.configuration import WEIGHTS
from codestress.nano.engine import prompt_text
from codestress.nano.model import Nano
from codestress.pipeline.artefacts import resolve
from codestress.types import Request

LONGEST = 48
"""Tokens of an answer."""


def questions() -> list[Request]:
    """Return 100 requests of retrieval and 100 of short lists, which have a system message and no begun answer."""
    requests: list[Request] = []
    short = ("d=[1, 2]", "lines_below=50", "step=4", "lists=5")
    for name, settings in (
        ("semtrace/nano", ("n_problems=5", "positions=11", "distractors=[1, 6]")),
        ("origin/fig05", short),
    ):
        [artefact] = resolve([name], "demo", ["nano"], settings)
        trials = artefact.trials()
        for trial in trials.items[:100]:
            requests.append(Request("nano", "", trials.render(trial)))
    return requests


def served_texts(requests: list[Request], prompts: list[list[int]]) -> list[str]:
    """Return vLLM's greedy answers, after checking that it makes the same tokens."""
    import vllm

    model = vllm.LLM(model=str(WEIGHTS), dtype="float32", seed=0, enforce_eager=True)
    sampling = vllm.SamplingParams(temperature=0, max_tokens=LONGEST)
    texts = []
    for request, ids in zip(requests, prompts, strict=True):
        begun = request.prompt.prefill
        [output] = model.chat(
            conversation(request.prompt, begun),
            sampling,
            use_tqdm=False,
            add_generation_prompt=not begun,
            continue_final_message=bool(begun),
        )
        assert output.prompt_token_ids == ids
        texts.append(output.outputs[0].text)
    return texts


def reference_texts(
    nano: Nano, requests: list[Request], prompts: list[list[int]]
) -> tuple[list[str], float]:
    """Return transformers' greedy answers, and how far its logits are from the kit's at most."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(
        WEIGHTS, dtype=torch.float32
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(WEIGHTS)
    texts, apart = [], 0.0
    for request, ids in zip(requests, prompts, strict=True):
        begun = request.prompt.prefill
        tokens = tokenizer.apply_chat_template(
            conversation(request.prompt, begun),
            add_generation_prompt=not begun,
            continue_final_message=bool(begun),
            return_dict=False,
        )
        assert list(tokens) == ids
        inputs = torch.tensor([ids])
        with torch.no_grad():
            logits = model(inputs).logits[0, -1].numpy()
            [answer] = model.generate(inputs, do_sample=False, max_new_tokens=LONGEST)
        apart = max(apart, float(np.abs(logits - nano.logits(ids)).max()))
        texts.append(tokenizer.decode(answer[len(ids) :], skip_special_tokens=True))
    return texts, apart


def main(other: str) -> None:
    nano, requests = Nano(), questions()
    prompts, own = [], []
    random = np.random.default_rng(0)
    for request in requests:
        text = prompt_text(request)
        ids = nano.tokenizer.encode(text, add_special_tokens=False).ids
        answer = islice(nano.continuation(ids, random=random), LONGEST)
        prompts.append(ids)
        own.append(nano.tokenizer.decode([*answer]))
    result: dict[str, Any] = {"asked": len(requests)}
    if other == "vllm":
        texts = served_texts(requests, prompts)
    else:
        texts, result["apart"] = reference_texts(nano, requests, prompts)
    pairs = zip(own, texts, strict=True)
    result["different"] = [pair for pair in pairs if pair[0] != pair[1]]
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1])
