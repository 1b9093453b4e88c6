"""Sense and Sensitivity: Tables 1 and 2 (without distractors), 3 (licences) and 4 (architectures), and the prompts."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.inference.registry import ModelEntry
from codestress.problems.datasets import find_dataset
from codestress.report.published import published_cells
from codestress.types import Prompt

COLUMNS = {
    ("cruxeval", "input_prediction"): "CRUXEval-I",
    ("cruxeval", "output_prediction"): "CRUXEval-O",
    ("semtrace", "output_prediction"): "SemTrace",
    ("generated", "input_prediction"): "generated-I",
    ("generated", "output_prediction"): "generated-O",
}


def baseline_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Columns label, condition, accuracy, low, high, items and what is `true` where that is known, for `share_bars`; a
    condition is a data set with a task."""
    keyed = table["keys"].nunique() > 1
    conditions = [
        COLUMNS[str(row.dataset), str(row.task)] + (f", with{'' if row.keys else 'out'} keys" if keyed else "")
        for row in table.itertuples()
    ]
    shown = ["label", "condition", "accuracy", "low", "high", "items"]
    return table.assign(label=table["model"], condition=conditions)[[*shown, *table.columns.intersection(["true"])]]


def published_baselines(artefact: str, confidence: float) -> pd.DataFrame:
    """The paper's table in the same columns, and `percent`, as printed; Wilson's intervals from its 800 problems, of
    which GPT 4.1 had 100."""
    cells = published_cells(artefact, "label", "condition").rename(columns={"value": "percent"})
    asked = cells["label"].str.startswith("gpt").map({True: 100, False: 800})
    counted = cells.assign(n=asked, correct=(cells["percent"] * asked / 100).round())
    return with_accuracy(counted, "correct", "n", confidence).assign(accuracy=cells["percent"] / 100)


def beside_published(shares: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Tables 1 and 2 as printed, the regenerated shares behind them: label, condition, from, accuracy, low, high."""
    parts = {"the paper": published, "here": shares}
    columns = ["label", "condition", "from", "accuracy", "low", "high"]
    return pd.concat([part.assign(**{"from": name}) for name, part in parts.items()], ignore_index=True)[columns]


ABOUT_31K = (30_500, 31_500)
"""Lengths that are 31k tokens when rounded."""


def smallest_rope_base(context: float) -> float:
    """Smallest base of RoPE for a context of that many tokens: the power law that Men et al. (2024) fit.

    "Base of RoPE bounds context length": 0.0424 * L ** 1.628. The paper (appendix G) has 861,000 for about 31,000.
    """
    return float(0.0424 * context**1.628)


def licences(models: Sequence[ModelEntry]) -> pd.DataFrame:
    """Name, kind, licence and what Table 3 prints, of the models and of the data sets; empty where it has none.

    They differ for Llama 3.1 8B, which the paper has under the licence of 3.3; ours are the model cards'.
    """
    rows = [{"name": entry.name, "kind": "model", "licence": entry.licence} for entry in models]
    sets = [find_dataset("cruxeval"), find_dataset("codesearchnet-python")]
    table = pd.DataFrame([*rows, *({"name": d.name, "kind": "data set", "licence": d.licence} for d in sets)])
    printed = published_cells("semtrace/tab03", "name").set_index("name")["value"]
    return table.assign(table_3=table["name"].map(printed).fillna(""))


def architectures(models: Sequence[ModelEntry], context: int) -> pd.DataFrame:
    """What the registry says of each model, and whether its RoPE base reaches the bound for `context` tokens.

    `smallest_base` is that bound; `lowest_bound` and `highest_bound` are those of the lengths that the paper's
    "approximately 31k" tokens may be. The power law's constants are Men et al.'s; the paper prints none.
    """
    bound, unknown = smallest_rope_base(context), "not published"
    rows = []
    for entry in models:
        told = entry.architecture
        facts = {name: told.get(name, unknown) for name in ("positional", "moe", "sliding_window", "gqa")}
        base = told.get("rope_theta")
        row = {"name": entry.name, **facts, "rope_base": base, "context": entry.context}
        rows.append(row | {"reaches_bound": unknown if base is None else "yes" if float(base) >= bound else "no"})
    lowest, highest = (round(smallest_rope_base(end)) for end in ABOUT_31K)
    return pd.DataFrame(rows).assign(smallest_base=round(bound), lowest_bound=lowest, highest_bound=highest)


def bound_table(context: int) -> pd.DataFrame:
    """The bound for a context of that many tokens: context, thousands."""
    return pd.DataFrame([{"context": context, "thousands": smallest_rope_base(context) / 1000}])


def prompt_files(tasks: Sequence[str], qac: Sequence[bool]) -> list[str]:
    """The files that prompts were made from, whose hashes go into the manifest."""
    return [name for task in tasks for name in ([f"{task}.before"] if any(qac) else []) + [task, f"{task}.prefill"]]


def template_table(prompts: Sequence[tuple[str, int, Prompt]]) -> pd.DataFrame:
    """Characters of each template's prompt and prefill, and tokens at four characters each (no model's tokenizer)."""
    columns = ["task", "distractors", "characters", "prefill_characters", "tokens_at_4_characters"]
    rows = [
        (task.replace("_", " "), count, prompt.characters, len(prompt.prefill), round(prompt.characters / 4))
        for task, count, prompt in prompts
    ]
    return pd.DataFrame(rows, columns=columns)
