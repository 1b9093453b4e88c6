"""Sense and Sensitivity: Tables 1 and 2 (without distractors), 3 (licences) and 4 (architectures), and the prompts; and
what Tables 1 and 2 say of ten models without distractors, with keys before all lines and not.

Accuracies are published, not single answers: intervals are marginal, and what pairs the same problems is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from codestress.fitting.proportions import newcombe
from codestress.fitting.significance import (
    LEVEL,
    mean_difference,
    open_ranks,
    rank_correlation,
    two_shares_p,
    with_holm,
)
from codestress.fitting.summaries import with_accuracy
from codestress.inference.registry import ModelEntry
from codestress.problems.datasets import find_dataset
from codestress.report.findings import Finding, listed, points, span
from codestress.report.published import published_cells
from codestress.seeding import rng
from codestress.types import Prompt

PROBLEMS = 800
FEWER = {"gpt-4.1-2025-04-14": 100}
"""Models that were asked about fewer problems."""
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
    asked = cells["label"].map(FEWER).fillna(PROBLEMS).astype(int)
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


def scores(confidence: float) -> pd.DataFrame:
    """Both tables: model, task (CRUXEval-I, CRUXEval-O or SemTrace), keys (bool), n, share, low, high (Wilson)."""
    plain, keyed = (published_baselines(f"semtrace/{name}", confidence) for name in ("tab01", "tab02"))
    table = pd.concat([plain.assign(keys=False), keyed.assign(keys=True)], ignore_index=True)
    task, share = table["condition"].str.removesuffix(", with keys"), table["correct"] / table["n"]
    named = table.assign(model=table["label"], task=task, share=share)
    return named[["model", "task", "keys", "n", "share", "low", "high"]]


def with_keys(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """What keys do, from `scores()`: model, task, plain, keyed (shares), difference, low, high (keyed - plain;
    Newcombe, marginal), p (pooled z test), p_holm (over all), decided."""
    rows = []
    for (model, task), part in table.groupby(["model", "task"], sort=False):
        if part["keys"].nunique() < 2:
            continue
        plain, keyed = (part[part["keys"] == keys].iloc[0] for keys in (False, True))
        sides = plain["share"], plain["n"], keyed["share"], keyed["n"]
        difference = keyed["share"] - plain["share"]
        rows.append((model, task, sides[0], sides[2], difference, *newcombe(*sides, confidence), two_shares_p(*sides)))
    frame = pd.DataFrame(rows, columns=["model", "task", "plain", "keyed", "difference", "low", "high", "p"])
    return with_holm(frame)


def over_models(keys: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """The mean of what keys do, paired by model: task, difference, low, high (Student), p (exact sign flips), p_holm,
    decided, models."""
    rows = []
    for task, part in keys.groupby("task", sort=False):
        found = mean_difference(part["difference"], confidence)
        rows.append((task, found.value, *found.interval, found.p_value, found.models))
    frame = pd.DataFrame(rows, columns=["task", "difference", "low", "high", "p", "models"])
    return with_holm(frame)


def orders(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """How two benchmarks order the ten models, from `scores()` without keys.

    Columns: first, second, correlation (Spearman), low, high, p (permutations of models), p_holm, decided, against
    (pairs of models that both tell apart, and order in opposite ways), both (pairs that both tell apart), pairs.
    """
    wide = _plain(table, "share")
    told = {task: set(open_ranks(wide[task], _plain(table, "n")[task], LEVEL).told) for task in wide.columns}
    rows = []
    for first, second in combinations(wide.columns, 2):
        draws = rng(seed, "orders", first, second)
        found = rank_correlation(wide[first], wide[second], confidence, draws)
        turned = {(b, a) for a, b in told[second]}
        against, same = told[first] & turned, told[first] & told[second]
        names = [f"{wide.index[a]} over {wide.index[b]}" for a, b in sorted(against)]
        pairs = len(wide) * (len(wide) - 1) // 2
        both = len(against) + len(same)
        told_of = (len(against), both, pairs, "; ".join(names))
        rows.append((first, second, found.value, *found.interval, found.p_value, *told_of))
    columns = ["first", "second", "correlation", "low", "high", "p", "against", "both", "pairs", "names"]
    return with_holm(pd.DataFrame(rows, columns=columns))


def _plain(table: pd.DataFrame, value: str) -> pd.DataFrame:
    """Without keys, models by benchmarks."""
    return table[~table["keys"]].pivot_table(index="model", columns="task", values=value, sort=False)


# --- findings -----------------------------------------------------------------------------------------------------

TOTALS = "Totals, no single answers: what pairs the same problems is lost, and a paired test would see smaller effects."


def findings(
    table: pd.DataFrame, keys: pd.DataFrame, means: pd.DataFrame, order: pd.DataFrame, confidence: float
) -> list[Finding]:
    """What stands first, from the tables of this module."""
    return [_baselines(table, confidence), _keys(keys), _means(means), _orders(order)]


def _baselines(table: pd.DataFrame, confidence: float) -> Finding:
    plain = table[~table["keys"]]
    told = []
    for task, part in plain.groupby("task", sort=False):
        ordered = part.sort_values("share", ascending=False)
        ranks = open_ranks(ordered["share"], ordered["n"], LEVEL)
        first = list(ordered["model"][np.asarray(ranks.low) == 1])
        ends = [
            f"{row.model} {100 * row.share:.1f} % {span(row.low, row.high)}"
            for row in ordered.iloc[[0, -1]].itertuples()
        ]
        apart = f"{len(ranks.told)} of {len(part) * (len(part) - 1) // 2} pairs of models are told apart"
        told.append(f"{task}: {' to '.join(ends)}; {apart}, the best may be {listed(first)}")
    half = 100 * float(((table["high"] - table["low"]) / 2)[table["n"] == PROBLEMS].max())
    return Finding(
        f"Without distractors. {'. '.join(told)}. Half an interval of {PROBLEMS} problems: {half:.1f} points at most.",
        "pooled z test of two shares for each pair of models",
        f"Wilson, {100 * confidence:g} %, marginal",
        f"Holm over 45 pairs of each benchmark, level {LEVEL}",
        f"GPT 4.1 was asked about {FEWER['gpt-4.1-2025-04-14']} problems. {TOTALS}",
    )


def _keys(keys: pd.DataFrame) -> Finding:
    sure = keys[keys["decided"]].sort_values("difference")
    told = [f"{row.model}, {row.task}, {points(row.difference)} {span(row.low, row.high)}" for row in sure.itertuples()]
    rest = keys[~keys["decided"]]
    return Finding(
        f"Keys before all lines change the accuracy of {len(sure)} of {len(keys)} models and tasks (points): "
        f"{'; '.join(told) or 'none'}. Of the others nothing is shown: their intervals reach from "
        f"{points(rest['low'].min())} to {points(rest['high'].max())}.",
        "pooled z test of two shares",
        "Newcombe, marginal",
        f"Holm over {len(keys)} tests, level {LEVEL}",
        TOTALS + " GPT 4.1 was not asked with keys.",
    )


def _means(means: pd.DataFrame) -> Finding:
    told = [
        f"{row.task} {points(row.difference)} {span(row.low, row.high)} (p by Holm {row.p_holm:.3f})"
        for row in means.itertuples()
    ]
    return Finding(
        f"Over the {means['models'].max()} models together, keys change accuracy by (points): {'; '.join(told)}; "
        f"{int(means['decided'].sum())} of {len(means)} are decided.",
        "exact sign flips of each model's difference",
        "Student, paired across models",
        f"Holm over {len(means)} tasks, level {LEVEL}",
        "Nine models of six families are no sample of models at large.",
    )


def _orders(order: pd.DataFrame) -> Finding:
    told = []
    for row in order.itertuples():
        turned = f" ({row.names})" if row.against else ""
        told.append(
            f"{row.first} and {row.second}: Spearman {row.correlation:.2f} {span(row.low, row.high, 1, 2)}, "
            f"{row.against} of the {row.both} pairs that both tell apart in opposite ways{turned}"
        )
    return Finding(
        f"How benchmarks order ten models. {'. '.join(told)}. {int(order['decided'].sum())} of {len(order)} "
        "correlations are decided.",
        "Spearman's rank correlation over models, permutations; pairs by pooled z tests",
        "Fisher's transformation with Bonett and Wright's error; models are the sample",
        f"Holm over {len(order)} correlations; over 45 pairs of each benchmark; level {LEVEL}",
        "Ten models leave a correlation wide open. SemTrace's problems are others than CRUXEval's.",
    )
