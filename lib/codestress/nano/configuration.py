"""Sizes of `nano`, the small transformer that comes with the kit, with the names of a
Hugging Face config.json."""

from collections.abc import Iterable
from pathlib import Path

from pydantic import ConfigDict, Field, PositiveInt

from codestress.paths import ROOT
from codestress.validation import Strict

START, END = "<|im_start|>", "<|im_end|>"
WEIGHTS = Path(__file__).parent / "weights"
"""Folder of the weights that come with the kit."""


class Configuration(Strict):
    """Sizes of a model with Llama's architecture: RMSNorm, rotary positions, SwiGLU, grouped-query
    attention, tied embeddings. Other entries of config.json are ignored."""

    model_config = ConfigDict(extra="ignore")

    vocab_size: PositiveInt
    hidden_size: PositiveInt
    num_hidden_layers: PositiveInt
    num_attention_heads: PositiveInt
    num_key_value_heads: PositiveInt
    head_dim: int = Field(gt=0, multiple_of=2)
    intermediate_size: PositiveInt
    rms_norm_eps: float
    rope_theta: float
    max_position_embeddings: PositiveInt


def chatml(turns: Iterable[tuple[str, str]], begun: str = "") -> str:
    """Return a prompt in ChatML: the `turns` as pairs (role, text), then the
    assistant's turn, which begins with the prefill `begun` and stays open."""
    prompt = ""
    for role, text in turns:
        prompt += f"{START}{role}\n{text}{END}\n"
    return f"{prompt}{START}assistant\n{begun}"


def weights_folder(name: str) -> Path:
    """Return the path of the folder of weights `name`.

    A name with a slash is a path, absolute or relative to the project's root. Any other
    name, such as `weights`, is a folder beside this module.
    """
    return ROOT / name if "/" in name else WEIGHTS.parent / name
