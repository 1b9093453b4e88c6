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
    """100 of retrieval, at all places, and 100 of short lists, which have a system message and no begun answer."""
    found: list[Request] = []
    short = ("d=[1, 2]", "lines_below=50", "step=4", "lists=5")
    for name, settings in (
        ("semtrace/nano", ("n_problems=5", "positions=11", "distractors=[1, 6]")),
        ("origin/fig05", short),
    ):
        [artefact] = resolve([name], "demo", ["nano"], settings)
        trials = artefact.trials()
        found += [Request("nano", "", trials.render(one)) for one in trials.items[:100]]
    return found


def main(other: str) -> None:
    model, asked = Nano(), questions()
    prompts = [
        model.tokenizer.encode(prompt_text(one), add_special_tokens=False).ids
        for one in asked
    ]
    random = np.random.default_rng(0)
    continued = (model.continuation(ids, random=random) for ids in prompts)
    mine = [model.tokenizer.decode([*islice(ids, LONGEST)]) for ids in continued]
    told: dict[str, Any] = {"asked": len(asked)}
    if other == "vllm":
        import vllm

        served = vllm.LLM(
            model=str(WEIGHTS), dtype="float32", seed=0, enforce_eager=True
        )
        sampling = vllm.SamplingParams(temperature=0, max_tokens=LONGEST)
        theirs = []
        for one in asked:
            begun = bool(one.prompt.prefill)
            [output] = served.chat(
                conversation(one.prompt, one.prompt.prefill),
                sampling,
                use_tqdm=False,
                add_generation_prompt=not begun,
                continue_final_message=begun,
            )
            assert output.prompt_token_ids == prompts[len(theirs)]
            theirs.append(output.outputs[0].text)
    else:
        import torch
        import transformers

        reference = transformers.AutoModelForCausalLM.from_pretrained(
            WEIGHTS, dtype=torch.float32
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(WEIGHTS)
        theirs, apart = [], []
        for one, ids in zip(asked, prompts, strict=True):
            begun = bool(one.prompt.prefill)
            same = tokenizer.apply_chat_template(
                conversation(one.prompt, one.prompt.prefill),
                add_generation_prompt=not begun,
                continue_final_message=begun,
                return_dict=False,
            )
            assert list(same) == ids
            given, how = torch.tensor([ids]), {"max_new_tokens": LONGEST}
            with torch.no_grad():
                logits = reference(given).logits[0, -1].numpy()
                [written] = reference.generate(given, do_sample=False, **how)
            apart.append(float(np.abs(logits - model.logits(ids)).max()))
            text = tokenizer.decode(written[len(ids) :], skip_special_tokens=True)
            theirs.append(text)
        told["apart"] = max(apart)
    told["different"] = [[a, b] for a, b in zip(mine, theirs, strict=True) if a != b]
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1])
