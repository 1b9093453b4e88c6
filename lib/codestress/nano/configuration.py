"""The shape of `nano`, by the names of a Hugging Face config.json."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pydantic import Field

from codestress.validation import Strict

START, END = "<|im_start|>", "<|im_end|>"
WEIGHTS = Path(__file__).parent / "weights"
"""What comes with the kit."""


class Configuration(Strict):
    """Llama's architecture: RMSNorm, rotary positions, SwiGLU, grouped-query attention, tied embeddings."""

    vocab_size: int = Field(default=1536, gt=0)
    hidden_size: int = Field(default=192, gt=0)
    num_hidden_layers: int = Field(default=5, gt=0)
    num_attention_heads: int = Field(default=4, gt=0)
    num_key_value_heads: int = Field(default=2, gt=0)
    head_dim: int = Field(default=64, gt=0, multiple_of=2)
    intermediate_size: int = Field(default=512, gt=0)
    rms_norm_eps: float = 1e-5
    rope_theta: float = 1e6
    max_position_embeddings: int = Field(default=4096, gt=0)


def chatml(turns: Iterable[tuple[str, str]], begun: str = "") -> str:
    """What was said, by role, and the assistant's turn begun."""
    return "".join(f"{START}{role}\n{said}{END}\n" for role, said in turns) + f"{START}assistant\n{begun}"


def weights_folder(name: str) -> Path:
    """One of the kit's own folders of weights (`weights`), or any other, which has a slash in its name."""
    return Path(name) if "/" in name else WEIGHTS.parent / name
