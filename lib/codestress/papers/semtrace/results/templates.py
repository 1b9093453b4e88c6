"""Sense and Sensitivity: the prompts, as tables and files."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from codestress.types import Prompt


def prompt_files(tasks: Sequence[str], qac: Sequence[bool]) -> list[str]:
    """The files that prompts were made from, whose hashes go into the manifest."""
    return [name for task in tasks for name in ([f"{task}.before"] if any(qac) else []) + [task, f"{task}.prefill"]]


def template_table(prompts: Sequence[tuple[str, int, Prompt]]) -> pd.DataFrame:
    """Characters of each template's prompt and prefill, and tokens at four characters each (no model's tokenizer)."""
    return pd.DataFrame(
        [
            {
                "task": task.replace("_", " "),
                "distractors": count,
                "characters": prompt.characters,
                "prefill_characters": len(prompt.prefill),
                "tokens_at_4_characters": round(prompt.characters / 4),
            }
            for task, count, prompt in prompts
        ]
    )
