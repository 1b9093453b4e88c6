"""Sense and Sensitivity's Tables 1 and 2 (without distractors), 3 (licences) and 4 (architectures),
and prompts; and findings from Tables 1 and 2 on ten models without distractors, with and without
keys before all lines.

The paper publishes accuracies, not single answers: intervals are marginal, and pairing by problem
is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from codestress.fitting.proportions import newcombe
from codestress.fitting.significance import (
    LEVEL,
    mean_difference,
    open_ranks,
    rank_correlation,
    told_from_zero,
    two_shares_p,
    with_holm,
)
from codestress.fitting.summaries import with_accuracy
from codestress.inference.registry import ModelEntry
from codestress.problems.datasets import find_dataset
from codestress.report.findings import Finding, listed, points, span
from codestress.report.marks import with_cells
from codestress.report.published import published_cells
from codestress.seeding import rng
from codestress.types import Prompt

PROBLEMS = 800
FEWER = {"gpt-4.1-2025-04-14": 100}
"""Number of problems for models that were asked fewer than `PROBLEMS`."""
COLUMNS = {
    ("cruxeval", "input_prediction"): "CRUXEval-I",
    ("cruxeval", "output_prediction"): "CRUXEval-O",
    ("semtrace", "output_prediction"): "SemTrace",
    ("generated", "input_prediction"): "generated-I",
    ("generated", "output_prediction"): "generated-O",
}


def baseline_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Table for `baseline_dots`: label (the model), condition, accuracy, low, high, items, cell
    (column values that select the row's answers).

    A condition is a data set with a task, and whether lines have keys when both were asked. `table`
    is a summary of answers by model, dataset, task and keys; `KeyError` for a data set and task not
    in `COLUMNS`.
    """
    keyed = table["keys"].nunique() > 1
    conditions = [
        COLUMNS[str(row.dataset), str(row.task)]
        + (f", with{'' if row.keys else 'out'} keys" if keyed else "")
        for row in table.itertuples()
    ]
    shown = ["label", "condition", "accuracy", "low", "high", "items", "cell"]
    cells = with_cells(table, ["model", "dataset", "task", "keys"])
    return cells.assign(label=table["model"], condition=conditions)[shown]


def published_baselines(artefact: str, confidence: float) -> pd.DataFrame:
    """Table of the accuracies that the paper prints in the table named `artefact`: label (model),
    condition, percent (as printed), n, correct (count), accuracy, and Wilson's low and high (0 to
    1) from the paper's 800 problems (100 for GPT 4.1). Empty when `artefact` has no such table."""
    cells = published_cells(artefact, "label", "condition").rename(
        columns={"value": "percent"}
    )
    asked = cells["label"].map(FEWER).fillna(PROBLEMS).astype(int)
    counted = cells.assign(n=asked, correct=(cells["percent"] * asked / 100).round())
    table = with_accuracy(counted, "correct", "n", confidence)
    return table.assign(accuracy=cells["percent"] / 100)


def drawn_baselines(artefact: str, confidence: float) -> pd.DataFrame:
    """Table like that of `published_baselines`, with what the figure of Table 2 shows: its numbers
    and, as the condition `without keys`, those of Table 1 for the same models and tasks."""
    printed = published_baselines(artefact, confidence)
    if not printed["condition"].str.endswith(", with keys").any():
        return printed
    plain = published_baselines("semtrace/tab01", confidence)
    tasks = printed["condition"].str.removesuffix(", with keys")
    same = plain["label"].isin(printed["label"]) & plain["condition"].isin(tasks)
    plain = plain[same].assign(condition=plain["condition"] + ", without keys")
    return pd.concat([plain, printed], ignore_index=True)


def headline(
    regenerated: pd.DataFrame, published: pd.DataFrame, differences: pd.DataFrame
) -> str:
    """Title of the figure of Table 1 or 2, from the tables `regenerated` of `baseline_shares` and
    `published` of `published_baselines`: how many models find SemTrace harder than the outputs of
    other programs; or, where keys vary, how many of `differences` (p_value) are told from 0."""
    if len(differences):
        return clear_effect("keys before all lines", differences)
    sides = []
    for source, table in (("here", regenerated), ("published", published)):
        wide = table.pivot_table("accuracy", "label", "condition", sort=False)
        outputs = [name for name in wide if str(name).endswith("-O")]
        if "SemTrace" in wide and outputs:
            harder = int((wide["SemTrace"] < wide[outputs[0]]).sum())
            sides.append(f"{harder} of {len(wide)} {source}")
    if not sides:
        best = regenerated.sort_values("accuracy").iloc[-1]
        return f"{best.label} is best without distractors: {100 * best.accuracy:.0f} % of {best.condition}"
    return f"SemTrace is harder than predicting outputs for {' and '.join(sides)}"


def clear_effect(factor: str, differences: pd.DataFrame) -> str:
    """Sentence on how many of the `differences` (p_value) that `factor` makes are told from 0 after
    Holm's correction."""
    told = told_from_zero(differences["p_value"])
    head = (
        f"A clear effect of {factor} in {told}"
        if told
        else f"No clear effect of {factor} in any"
    )
    return f"{head} of {len(differences)} comparisons"


def beside_published(shares: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Table of the paper's accuracies `published` (Tables 1 and 2), followed by the regenerated
    `shares`: label, condition, from (`the paper` or `here`), accuracy, low, high."""
    table = pd.concat({"the paper": published, "here": shares}, names=["from"])
    columns = ["label", "condition", "from", "accuracy", "low", "high"]
    return table.reset_index("from").reset_index(drop=True)[columns]


ABOUT_31K = (30_500, 31_500)
"""Smallest and largest length that round to 31k tokens."""


def smallest_rope_base(context: float) -> float:
    """Smallest base of RoPE (rotary position embedding) that suffices for `context` tokens, by the
    power law that Men et al. (2024) fit.

    "Base of RoPE bounds context length": 0.0424 * L ** 1.628. The paper (appendix G) has 861,000
    for about 31,000.
    """
    return float(0.0424 * context**1.628)


def licences(models: Sequence[ModelEntry]) -> pd.DataFrame:
    """Table of the licences of `models` (entries of the model registry) and of two data sets: name,
    kind (`model` or `data set`), licence, and table_3 (the text that Table 3 prints, empty without
    an entry).

    The licences differ for Llama 3.1 8B, which the paper lists under the licence of 3.3; the column
    licence follows the model cards.
    """
    rows = [(entry.name, "model", entry.licence) for entry in models]
    for name in ("cruxeval", "codesearchnet-python"):
        rows.append((name, "data set", find_dataset(name).licence))
    table = pd.DataFrame(rows, columns=["name", "kind", "licence"])
    printed = published_cells("semtrace/tab03", "name").set_index("name")["value"]
    return table.assign(table_3=table["name"].map(printed).fillna(""))


def licence_kinds(table: pd.DataFrame) -> list[str]:
    """Sorted list of the different licences in `table`, that of `licences()`, without the holders
    and remarks beside a licence's name."""
    names = table["licence"].str.split(r"[,(]| by | for ", regex=True).str[0]
    return sorted(names.str.strip().unique())


def architectures(models: Sequence[ModelEntry], context: int) -> pd.DataFrame:
    """Table of the architecture of each of `models` (entries of the model registry), and whether
    its RoPE base reaches the bound for `context` tokens. Columns: name, positional, moe,
    sliding_window, gqa, rope_base (None where unknown), context (the model's own longest),
    reaches_bound (`yes` or `no`), smallest_base, lowest_bound, highest_bound; other unknown values
    are `not published`.

    The column `smallest_base` is the bound; `lowest_bound` and `highest_bound` are the bounds for
    the shortest and longest context that the paper's "approximately 31k" tokens may be. The power
    law's constants are Men et al.'s; the paper prints none.
    """
    bound, unknown = smallest_rope_base(context), "not published"
    rows = []
    for entry in models:
        row: dict[str, object] = {"name": entry.name}
        for name in ("positional", "moe", "sliding_window", "gqa"):
            row[name] = entry.architecture.get(name, unknown)
        base = entry.architecture.get("rope_theta")
        reaches = unknown
        if base is not None:
            reaches = "yes" if float(base) >= bound else "no"
        row |= {"rope_base": base, "context": entry.context, "reaches_bound": reaches}
        rows.append(row)
    lowest, highest = (round(smallest_rope_base(end)) for end in ABOUT_31K)
    return pd.DataFrame(rows).assign(
        smallest_base=round(bound), lowest_bound=lowest, highest_bound=highest
    )


def bound_table(context: int) -> pd.DataFrame:
    """Table of one row: the column `context`, the argument `context` in tokens, and the column
    `thousands`, the smallest RoPE base for so many tokens in thousands."""
    return pd.DataFrame(
        [{"context": context, "thousands": smallest_rope_base(context) / 1000}]
    )


def shares_by_reading(answers: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Table of the accuracies of predictions under each reading rule (the part of a completion that
    is scored). `answers` maps each rule's name to the answers as scored by that rule: the same ones
    in the same order.

    Columns: model, task, n, a share for each rule, differ (share of answers on which the rules
    disagree).
    """
    columns = {rule: frame["value_strict"] == 1 for rule, frame in answers.items()}
    first = next(iter(answers.values()))
    table = first[["model", "task"]].assign(**columns)
    table["differ"] = table[[*columns]].nunique(axis="columns") > 1
    table = table[table["task"].isin(["input_prediction", "output_prediction"])]
    groups = table.groupby(["model", "task"], sort=False)
    shares = groups.mean()
    shares.insert(0, "n", groups.size())
    return shares.reset_index()


def prompt_files(tasks: Sequence[str], qac: Sequence[bool]) -> list[str]:
    """List of the names of the template files behind the prompts of `tasks`; their hashes go into
    the manifest. Files for a query before the code are among them if any of `qac` is True."""
    parts = [".before", "", ".prefill"] if any(qac) else ["", ".prefill"]
    return [task + part for task in tasks for part in parts]


def template_table(prompts: Sequence[tuple[str, int, Prompt]]) -> pd.DataFrame:
    """Table with a row for each of `prompts`, triples of task, number of distractors and prompt:
    task, distractors, characters, prefill_characters (of the answer's given beginning),
    tokens_at_4_characters (characters / 4, no model's tokenizer)."""
    rows = []
    for task, count, prompt in prompts:
        lengths = prompt.characters, len(prompt.prefill), round(prompt.characters / 4)
        rows.append((task.replace("_", " "), count, *lengths))
    columns = [
        "task",
        "distractors",
        "characters",
        "prefill_characters",
        "tokens_at_4_characters",
    ]
    return pd.DataFrame(rows, columns=columns)


def scores(confidence: float) -> pd.DataFrame:
    """Table of the accuracies printed in Tables 1 and 2: model, task (CRUXEval-I, CRUXEval-O or
    SemTrace), keys (whether lines have keys), n, share, low, high (0 to 1, Wilson, at the level
    `confidence`)."""
    plain, keyed = (
        published_baselines(f"semtrace/{name}", confidence)
        for name in ("tab01", "tab02")
    )
    table = pd.concat(
        [plain.assign(keys=False), keyed.assign(keys=True)], ignore_index=True
    )
    task, share = (
        table["condition"].str.removesuffix(", with keys"),
        table["correct"] / table["n"],
    )
    named = table.assign(model=table["label"], task=task, share=share)
    return named[["model", "task", "keys", "n", "share", "low", "high"]]


def with_keys(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Table of the effect of keys before lines, from `table`, that of `scores()`, a row for each
    model and task asked with and without keys: model, task, plain, keyed (shares), difference, low,
    high (keyed - plain; Newcombe, marginal), p (pooled z test), p_holm (over all), decided
    (bool)."""
    rows = []
    for (model, task), part in table.groupby(["model", "task"], sort=False):
        if part["keys"].nunique() == 2:
            plain, n, keyed, keyed_n = (
                part.sort_values("keys")[["share", "n"]].to_numpy().ravel()
            )
            sides = plain, n, keyed, keyed_n
            ends, p_value = newcombe(*sides, confidence), two_shares_p(*sides)
            rows.append((model, task, plain, keyed, keyed - plain, *ends, p_value))
    columns = ["model", "task", "plain", "keyed", "difference", "low", "high", "p"]
    return with_holm(pd.DataFrame(rows, columns=columns))


def over_models(keys: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Table of the mean effect of keys over models, paired by model, from `keys`, the table of
    `with_keys()`, a row for each task: task, difference (with keys minus without), low, high
    (Student), p (exact sign flips), models (their number), p_holm, decided (bool)."""
    rows = []
    for task, part in keys.groupby("task", sort=False):
        found = mean_difference(part["difference"], confidence)
        rows.append((task, found.value, *found.interval, found.p_value, found.models))
    frame = pd.DataFrame(
        rows, columns=["task", "difference", "low", "high", "p", "models"]
    )
    return with_holm(frame)


def orders(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Table of rank correlations of the ten models between two benchmarks, from the rows without
    keys of `table`, that of `scores()`, a row for each pair of benchmarks.

    Columns: first, second (the benchmarks), correlation (Spearman), low, high, p (permutations of
    models), against (pairs of models that both benchmarks separate, in opposite orders), both
    (pairs that both separate), pairs, names (of the pairs in `against`), p_holm, decided (bool).
    """
    wide, numbers = (
        table[~table["keys"]].pivot_table(value, "model", "task", sort=False)
        for value in ("share", "n")
    )
    separated = {
        task: set(open_ranks(wide[task], numbers[task], LEVEL).told) for task in wide
    }
    rows = []
    for first, second in combinations(wide.columns, 2):
        draws = rng(seed, "orders", first, second)
        spearman = rank_correlation(wide[first], wide[second], confidence, draws)
        turned = {(b, a) for a, b in separated[second]}
        against, same = separated[first] & turned, separated[first] & separated[second]
        names = [f"{wide.index[a]} over {wide.index[b]}" for a, b in sorted(against)]
        pairs = len(wide) * (len(wide) - 1) // 2
        counts = len(against), len(against) + len(same), pairs
        test = spearman.value, *spearman.interval, spearman.p_value
        rows.append((first, second, *test, *counts, "; ".join(names)))
    columns = [
        "first",
        "second",
        "correlation",
        "low",
        "high",
        "p",
        "against",
        "both",
        "pairs",
        "names",
    ]
    return with_holm(pd.DataFrame(rows, columns=columns))


def orders_title(order: pd.DataFrame) -> str:
    """Title of the figure of published accuracies, from `order`, the table of `orders()`: the pairs
    of benchmarks that are decided to order the models alike."""
    alike = order[order["decided"] & (order["correlation"] > 0)]
    pairs = [f"{row.first} and {row.second}" for row in alike.itertuples()]
    if not pairs:
        return "No two benchmarks clearly order the models alike"
    only = "Only " if len(pairs) < len(order) else ""
    return f"{only}{' or '.join(pairs)} clearly order the models alike"


# --- findings -----------------------------------------------------------------------------------------------------

TOTALS = "Totals, no single answers: what pairs the same problems is lost, and a paired test would see smaller effects."


def findings(
    table: pd.DataFrame,
    keys: pd.DataFrame,
    means: pd.DataFrame,
    order: pd.DataFrame,
    confidence: float,
) -> list[Finding]:
    """List of four findings: accuracies, keys by model, keys over models, order of the models. The
    tables `table`, `keys`, `means` and `order` are those of `scores()`, `with_keys()`,
    `over_models()` and `orders()`."""
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
        told.append(
            f"{task}: {' to '.join(ends)}; {apart}, the best may be {listed(first)}"
        )
    half = 100 * float(
        ((table["high"] - table["low"]) / 2)[table["n"] == PROBLEMS].max()
    )
    return Finding(
        f"Without distractors. {'. '.join(told)}. Half an interval of {PROBLEMS} problems: {half:.1f} points at most.",
        "pooled z test of two shares for each pair of models",
        f"Wilson, {100 * confidence:g} %, marginal",
        f"Holm over 45 pairs of each benchmark, level {LEVEL}",
        f"GPT 4.1 was asked about {FEWER['gpt-4.1-2025-04-14']} problems. {TOTALS}",
    )


def _keys(keys: pd.DataFrame) -> Finding:
    sure = keys[keys["decided"]].sort_values("difference")
    told = [
        f"{row.model}, {row.task}, {points(row.difference)} {span(row.low, row.high)}"
        for row in sure.itertuples()
    ]
    rest = keys[~keys["decided"]]
    return Finding(
        f"Keys before all lines change the accuracy of {len(sure)} of {len(keys)} models and tasks (points): "
        f"{'; '.join(told) or 'none'}. The others are not decided: their intervals reach from "
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
