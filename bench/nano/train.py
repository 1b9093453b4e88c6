"""Trains `nano` anew: `make train-nano`, or `python bench/nano/train.py --settings FILE --run FOLDER --from WEIGHTS`.

It trains for the hours that the settings say; stopped, it goes on from its last checkpoint. RUN/weights then holds
weights that transformers and vLLM load unchanged. Needs torch and transformers (the extra `train`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import numpy as safetensors

from codestress.errors import CodestressError
from codestress.nano.configuration import END
from codestress.paths import OUTPUTS, PARAMS, shown
from codestress.validation import check, read_yaml
from training import Run, Training, train
from vocabulary import PAD

CHAT_TEMPLATE = """{%- for message in messages -%}
<|im_start|>{{ message.role }}{{ "\\n" }}{{ message.content }}<|im_end|>{{ "\\n" }}
{%- endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant{{ "\\n" }}{%- endif -%}"""


def export(run: Run, tokenizer: Path, folder: Path, training: Training) -> None:
    """Writes a trained model as weights of 16 bits, with what transformers and vLLM read beside
    them, and the log of its training."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name: tensor.detach().cpu().half().numpy()
        for name, tensor in run.model.named_parameters()
    }
    safetensors.save_file(
        weights, folder / "model.safetensors", metadata={"format": "pt"}
    )
    shutil.copy2(tokenizer, folder)
    vocabulary = json.loads(tokenizer.read_text(encoding="utf-8"))["model"]["vocab"]
    ends = {
        "bos_token_id": None,
        "eos_token_id": vocabulary[END],
        "pad_token_id": vocabulary[PAD],
    }
    config: dict[str, Any] = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "torch_dtype": "float16",
    }
    config |= ends
    config |= training.shape.model_dump()
    _write(folder / "config.json", config)
    _write(folder / "generation_config.json", ends)
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "eos_token": END,
        "pad_token": PAD,
        "chat_template": CHAT_TEMPLATE,
        "model_max_length": training.shape.max_position_embeddings,
    }
    _write(folder / "tokenizer_config.json", tokenizer_config)
    manifest = {
        "sha256": hashlib.sha256(
            (folder / "model.safetensors").read_bytes()
        ).hexdigest(),
        "parameters": int(sum(np.prod(array.shape) for array in weights.values())),
        "seed": training.seed,
        "steps": run.steps,
        "tokens": run.tokens,
        "hours": round(run.seconds / 3600, 2),
        "hardware": f"{_hardware()}, torch {torch.__version__}",
        "log": run.log,
    }
    _write(folder / "manifest.json", manifest)


def _hardware() -> str:
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    return f"{platform.machine()}, {os.cpu_count()} cores"


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Train nano anew.")
    parser.add_argument("--settings", type=Path, default=PARAMS / "nano.yaml")
    parser.add_argument(
        "--run",
        type=Path,
        default=OUTPUTS / "nano",
        help="folder of the run; one begun goes on",
    )
    parser.add_argument(
        "--from",
        dest="begin",
        type=Path,
        help="weights that a new run begins with (default: random)",
    )
    given = parser.parse_args()
    weights = given.run / "weights"
    try:
        training = check(Training, read_yaml(given.settings), str(given.settings))
        run = train(training, given.run, given.begin)
        export(run, given.run / "tokenizer.json", weights, training)
    except CodestressError as error:
        sys.exit(f"error: {error}")
    print(
        f"weights: {shown(weights)}; measure them: python bench/nano/measure.py {shown(weights)}"
    )


if __name__ == "__main__":
    main()
