"""Sense and Sensitivity's Tables 1 and 2 (without distractors), 3 (licences) and 4
(architectures), and prompts."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import pandas as pd

from codestress.fitting.significance import significant
from codestress.fitting.summaries import with_accuracy
from codestress.inference.registry import ModelEntry
from codestress.problems.datasets import find_dataset
from codestress.report.marks import with_cells
from codestress.report.published import published_cells, read_published
from codestress.types import Prompt

GPT = "gpt-4.1-2025-04-14"
"""Model that the paper asked 100 problems; it asked all others 800."""


def column_of(dataset: str, task: str) -> str:
    """Return the name of the column of Table 1 for a prediction (`task`) on a data set,
    such as `CRUXEval-I`. Problems that are not the paper's have such a name too."""
    if dataset == "semtrace":
        return "SemTrace"
    letter = task[0].upper()
    return f"{dataset.replace('cruxeval', 'CRUXEval')}-{letter}"


def published_groups() -> dict[str, list[str]]:
    """Return a dict from the name of each group of models in the paper, such as `all`
    and `larger`, to its models."""
    return dict(read_published("semtrace")["groups"])


def groups_of(models: Iterable[str]) -> dict[str, list[str]]:
    """Return those of the paper's groups whose models are all among `models`, as a dict
    from name to models."""
    known = set(models)
    groups = published_groups().items()
    return {name: group for name, group in groups if known.issuperset(group)}


def baseline_shares(table: pd.DataFrame) -> pd.DataFrame:
    """Return the points that `baseline_dots` draws: label (the model), condition,
    accuracy, low, high (0 to 1), items, cell (column values that select the row's
    answers).

    A condition is a data set with a task, and whether lines have keys if both were
    asked. `table` is a summary of answers for each model, dataset, task and keys.
    """
    points = with_cells(table, ["model", "dataset", "task", "keys"])
    points["label"] = table["model"]
    asked = zip(table["dataset"], table["task"], strict=True)
    points["condition"] = [column_of(*question) for question in asked]
    if table["keys"].nunique() > 1:
        words = {True: ", with keys", False: ", without keys"}
        points["condition"] += table["keys"].map(words)
    return points[["label", "condition", "accuracy", "low", "high", "items", "cell"]]


def published_baselines(artefact: str, confidence: float) -> pd.DataFrame:
    """Return the accuracies that the paper prints in the table named `artefact`; empty
    if the paper has no numbers for it.

    Columns: label (model), condition, percent (as printed), n, correct (count),
    accuracy (0 to 1), and low, high (Wilson's interval at `confidence`, from the
    paper's 800 problems, 100 for GPT 4.1).
    """
    cells = published_cells(artefact, "label", "condition")
    cells = cells.rename(columns={"value": "percent"})
    cells["n"] = cells["label"].eq(GPT).map({True: 100, False: 800})
    cells["correct"] = (cells["percent"] * cells["n"] / 100).round()
    table = with_accuracy(cells, "correct", "n", confidence)
    return table.assign(accuracy=cells["percent"] / 100)


def beside_published(
    shares: pd.DataFrame, artefact: str, confidence: float
) -> pd.DataFrame:
    """Return the paper's accuracies for `artefact` (Tables 1 and 2), followed by the
    regenerated `shares`. Columns: label, condition, from (`the paper` or `here`),
    accuracy, low, high (at `confidence`), and cell (column values that select the
    answers of a regenerated row).

    Table 2 stands beside the numbers of Table 1 for the same models and tasks, as the
    condition `without keys`.
    """
    printed = published_baselines(artefact, confidence)
    if artefact == "semtrace/tab02":
        plain = published_baselines("semtrace/tab01", confidence)
        plain["condition"] += ", without keys"
        printed = pd.concat([plain, printed])
        asked = printed.assign(task=printed["condition"].str.partition(", ")[0])
        printed = printed[asked.duplicated(["label", "task"], keep=False)]
    table = pd.concat({"the paper": printed, "here": shares}, names=["from"])
    columns = ["label", "condition", "from", "accuracy", "low", "high", "cell"]
    return table.reset_index("from").reset_index(drop=True)[columns]


def headline(both: pd.DataFrame, differences: pd.DataFrame) -> str:
    """Return the title of the figure of Table 1 or 2: for how many models SemTrace is
    harder than the outputs of other programs. `both` is the result of
    `beside_published`.

    If neither side of it has SemTrace and another output task, the title says how many
    of `differences` (column p_value) differ clearly from 0.
    """
    sides = []
    for source, where in (("here", "here"), ("the paper", "published")):
        table = both[both["from"] == source]
        wide = table.pivot_table("accuracy", "label", "condition", sort=False)
        outputs = [name for name in wide if name.endswith("-O")]
        if "SemTrace" in wide and outputs:
            harder = (wide["SemTrace"] < wide[outputs[0]]).sum()
            sides.append(f"{harder} of {len(wide)} {where}")
    if sides:
        return f"SemTrace is harder than predicting outputs for {' and '.join(sides)}"
    return clear_effect("keys before all lines", differences)


def clear_effect(factor: str, differences: pd.DataFrame) -> str:
    """Return a sentence on how many of the `differences` (column p_value) that `factor`
    makes are significant after Holm's correction."""
    number = significant(differences["p_value"]) or "none"
    return f"A clear effect of {factor} in {number} of {len(differences)} comparisons"


def smallest_rope_base(context: float) -> float:
    """Return the smallest base of RoPE (rotary position embedding) that suffices for
    `context` tokens, from the power law that Men et al. (2024) fit.

    "Base of RoPE bounds context length": 0.0424 * L ** 1.628. The paper (appendix G)
    has 861,000 for about 31,000.
    """
    return float(0.0424 * context**1.628)


def licences(models: Sequence[ModelEntry]) -> pd.DataFrame:
    """Return the licences of `models` (entries of the model registry) and of two data
    sets. Columns: name, kind (`model` or `data set`), licence, and table_3 (the text
    that Table 3 prints, empty without an entry).

    The licences differ for Llama 3.1 8B, which the paper lists under the licence of
    3.3; the column licence follows the model cards.
    """
    rows = [(entry.name, "model", entry.licence) for entry in models]
    for name in ("cruxeval", "codesearchnet-python"):
        rows.append((name, "data set", find_dataset(name).licence))
    table = pd.DataFrame(rows, columns=["name", "kind", "licence"])
    printed = published_cells("semtrace/tab03", "name").set_index("name")["value"]
    return table.assign(table_3=table["name"].map(printed).fillna(""))


def licence_kinds(table: pd.DataFrame) -> list[str]:
    """Return the distinct licences in `table`, the result of `licences()`, sorted,
    without the holders and remarks beside a licence's name."""
    names = table["licence"].str.split(r"[,(]| by | for ", regex=True).str[0]
    return sorted(names.str.strip().unique())


def architectures(models: Sequence[ModelEntry], context: int) -> pd.DataFrame:
    """Return the architecture of each of `models` (entries of the model registry), and
    whether its RoPE base reaches the bound for `context` tokens.

    Columns: name, positional, moe, sliding_window, gqa, rope_base (None if unknown),
    context (the model's own longest, in tokens), reaches_bound (`yes` or `no`),
    smallest_base (the bound). Other unknown values are `not published`. The power law's
    constants are Men et al.'s; the paper prints none.
    """
    rows = [entry.model_dump() | entry.architecture for entry in models]
    table = pd.DataFrame(rows).rename(columns={"rope_theta": "rope_base"})
    words = ["positional", "moe", "sliding_window", "gqa"]
    table = table.reindex(columns=["name", *words, "rope_base", "context"])
    unknown = "not published"
    table[words] = table[words].fillna(unknown)
    bound = smallest_rope_base(context)
    reaches = (table["rope_base"].astype(float) >= bound).map(
        {True: "yes", False: "no"}
    )
    table["reaches_bound"] = reaches.where(table["rope_base"].notna(), unknown)
    return table.assign(smallest_base=round(bound))


def shares_by_reading(answers: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the accuracies of predictions under each reading rule (the part of a
    completion that is scored). `answers` maps each rule's name to the same answers, in
    the same order, as scored under the rule.

    Columns: model, task, n, a share (0 to 1) for each rule, differ (share of answers on
    which the rules disagree).
    """
    columns = {rule: frame["value_strict"] == 1 for rule, frame in answers.items()}
    table = next(iter(answers.values()))[["model", "task"]].assign(**columns)
    table["differ"] = table[[*columns]].nunique(axis="columns") > 1
    table = table[table["task"].str.endswith("_prediction")]
    groups = table.groupby(["model", "task"], sort=False)
    shares = groups.mean()
    shares.insert(0, "n", groups.size())
    return shares.reset_index()


def prompt_files(tasks: Sequence[str], qac: Sequence[bool]) -> list[str]:
    """Return the names of the template files behind the prompts of `tasks`; their
    hashes go into the manifest. Files for a query before the code are included if any
    of `qac` is True."""
    parts = ["", ".prefill"]
    if any(qac):
        parts.insert(0, ".before")
    return ["".join(name) for name in product(tasks, parts)]


def template_table(prompts: Sequence[tuple[str, int, Prompt]]) -> pd.DataFrame:
    """Return a row for each of `prompts`, which are triples of task, number of
    distractors and prompt. Columns: task, distractors, characters,
    tokens_at_4_characters (an estimate without a model's tokenizer)."""
    rows = []
    for task, count, prompt in prompts:
        tokens = round(prompt.characters / 4)
        rows.append((task.replace("_", " "), count, prompt.characters, tokens))
    columns = ["task", "distractors", "characters", "tokens_at_4_characters"]
    return pd.DataFrame(rows, columns=columns)
