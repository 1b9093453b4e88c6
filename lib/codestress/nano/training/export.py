"""Saves a trained `nano` as Hugging Face does, with a manifest."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file

from codestress.nano.configuration import END, Configuration
from codestress.nano.training.vocabulary import PAD

CHAT_TEMPLATE = """{%- for message in messages -%}
<|im_start|>{{ message.role }}{{ "\\n" }}{{ message.content }}<|im_end|>{{ "\\n" }}
{%- endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant{{ "\\n" }}{%- endif -%}"""


def export(run: Path, folder: Path, shape: Configuration, seed: int) -> None:
    """The checkpoint of a run as weights of 16 bits that transformers and vLLM load unchanged."""
    folder.mkdir(parents=True, exist_ok=True)
    saved = torch.load(run / "checkpoint.pt", weights_only=True, map_location="cpu")
    weights = {name: tensor.half().numpy() for name, tensor in saved["model"].items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    shutil.copy2(run / "tokenizer.json", folder)
    tokens = json.loads((run / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    ends = {"bos_token_id": None, "eos_token_id": tokens[END], "pad_token_id": tokens[PAD]}
    config: dict[str, Any] = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": True,
        "torch_dtype": "float16",
        **ends,
        **shape.model_dump(),
    }
    _write(folder / "config.json", config)
    _write(folder / "generation_config.json", ends)
    named = {"eos_token": END, "pad_token": PAD, "chat_template": CHAT_TEMPLATE}
    kind = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
    _write(folder / "tokenizer_config.json", {**kind, **named, "model_max_length": shape.max_position_embeddings})
    progress, cores = saved["progress"], f"{platform.machine()}, {os.cpu_count()} cores"
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else cores
    manifest = {
        "sha256": hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
        "parameters": int(sum(np.prod(array.shape) for array in weights.values())),
        "seed": seed,
        "steps": progress["step"],
        "tokens": progress["tokens"],
        "hours": round(progress["seconds"] / 3600, 2),
        "hardware": f"{device}, torch {torch.__version__}",
        "log": progress["log"],
    }
    _write(folder / "manifest.json", manifest)


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
