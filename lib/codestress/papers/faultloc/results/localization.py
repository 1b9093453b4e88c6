"""Tables of Fault Localizability: accuracy by kind of fault, quarter and model (Table
II, Figures 9 to 11)."""

from collections.abc import Sequence

import pandas as pd

from codestress.fitting.proportions import clustered_share
from codestress.mutate.faults.kinds import KINDS
from codestress.report.marks import with_cells
from codestress.report.published import read_published
from codestress.types import LANGUAGE_NAMES

ALL_FAULTS = "all faults"
ALL_MUTATIONS = "all mutations"
"""Names for all kinds of faults together, and for all mutations together."""
QUARTERS = {1: "0-25 %", 2: "25-50 %", 3: "50-75 %", 4: "75-100 %"}
"""Dict from a quarter of a program, 1 to 4, to its words."""
ORACLE = "perfect localizer"
"""Name, in the column model, of the instrument that names the changed line."""
READINGS = {"strict": "the line itself", "reference": "within two lines"}
"""Dict from a scoring rule to its reading of the word "compared", with which the paper
says how answers are scored (section IV-B of Fault Localizability)."""
TASK = ["source", "problem"]
"""Columns that identify a task; ids of two sources may be alike."""
WORDS = {
    "OffByOne": "off by one",
    "MisplacedReturn": "misplaced return",
    "IncorrectBooleanLogic": "boolean logic",
    "OperatorSwap": "operator swap",
    "comments": "misleading comments",
    "names": "misleading names",
    "dead_code": "dead code",
    "functions": "shuffled functions (Java)",
    "comments+names": "comments + names",
    "comments+names+dead_code": "comments + names + dead code",
    "blank_line": "a blank line",
    "unchanged": "no change",
}
"""Dict from a fault, mutation, composition or control to its words in charts and
titles."""


def spoken(name: str) -> str:
    """Return the words for `name`, a fault, mutation, control or composition.

    They are those in `WORDS`; text after `, ` is kept. Any other name is returned
    unchanged.
    """
    first, comma, rest = name.partition(", ")
    return WORDS.get(first, first) + comma + rest


def with_seed(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the table `answers` with the column `seed_program` (source and id of a
    task's program).

    The column serves as cluster, since tasks made from one program are not independent.
    """
    program = answers["problem"].str.split("/").str[0]
    return answers.assign(seed_program=answers["source"] + "/" + program)


def shares(
    answers: pd.DataFrame, by: Sequence[str], rule: str, confidence: float
) -> pd.DataFrame:
    """Return accuracy in groups of `answers`, a table of answers in which the bool
    column `counts` says whether an answer is included.

    There is a row for each combination of values of the columns `by`, in order of
    appearance, even if no answer of it is included. Columns: those of `by`, tasks
    (different ones), answers, found (right answers), accuracy (found / answers by the
    scoring rule `rule`), low, high (Wilson at level `confidence`, programs as
    clusters), programs, cell (values that select the answers). Shares are 0 to 1, nan
    without answers.
    """
    rows = []
    value = f"value_{rule}"
    for group, part in with_seed(answers).groupby(by, sort=False):
        part = part.query("counts")
        tasks = part[TASK].drop_duplicates()
        right = int(part[value].sum())
        share = clustered_share(part[value], part["seed_program"], confidence)
        numbers = (len(tasks), share.n, right, share.value)
        rows.append((*group, *numbers, *share.interval, share.clusters))
    columns = [*by, "tasks", "answers", "found", "accuracy", "low", "high"]
    table = pd.DataFrame(rows, columns=[*columns, "programs"])
    return with_cells(table, by)


ROWS = (*KINDS, ALL_FAULTS, ORACLE)
"""Rows of a heat map over quarters."""


def in_quarters(cells: pd.DataFrame) -> pd.DataFrame:
    """Return `cells`, the cells of a heat map over quarters, in the order of `ROWS`.

    `cells` has at least the columns row and quarter (1 to 4). Added columns: column
    (the quarter in words) and place (the row's index in `ROWS`).
    """
    cells = cells.assign(place=cells["row"].map(ROWS.index))
    cells = cells.sort_values(["place", "quarter"], ignore_index=True)
    return cells.assign(column=cells["quarter"].map(QUARTERS))


def localized(
    answers: pd.DataFrame, by: Sequence[str], *, rule: str, confidence: float
) -> pd.DataFrame:
    """Return accuracy on unmutated tasks from `answers`, a table of answers
    (`Results.answers`).

    There is a row for each model, the perfect localizer included, and combination of
    values of the columns `by`. Columns: model, those of `by`, tasks (different ones),
    answers, found (right answers), accuracy (found / answers by the scoring rule
    `rule`), low, high (Wilson at `confidence`, programs as clusters), cell (selects
    these answers).

    Further columns: kept (tasks that at least one model finds: the paper's filter,
    which ignores the perfect localizer), programs_kept, accuracy_kept, kept_low,
    kept_high. Intervals of shares among kept tasks ignore that the filter is random
    too.
    """
    plain = answers.query("spm == 'none'")
    value = plain[f"value_{rule}"]
    plain = plain.assign(counts=True, found=value.where(plain["model"] != ORACLE, 0))
    by = ["model", *by]
    table = shares(plain, by, rule, confidence)
    plain["counts"] = plain.groupby(TASK)["found"].transform("max") > 0
    filtered = shares(plain, by, rule, confidence)
    names = ["kept", "programs_kept", "accuracy_kept", "kept_low", "kept_high"]
    table[names] = filtered[["tasks", "programs", "accuracy", "low", "high"]]
    return table.drop(columns="programs")


def compared(
    answers: pd.DataFrame, programs: Sequence[str], confidence: float
) -> pd.DataFrame:
    """Return the rows of the paper's Table II from `answers`: the table of `localized`
    by language and kind of fault, under both scoring rules in `READINGS`.

    Further columns: reading (the rule in words), programs (the names in `programs`, the
    programs' sources), and asked: `all ten` if exactly the paper's models answered,
    else `others`.
    """
    tables = []
    by = ["language", "fault"]
    for rule, reading in READINGS.items():
        table = localized(answers, by, rule=rule, confidence=confidence)
        tables.append(table.assign(reading=reading))
    table = pd.concat(tables)
    table["programs"] = " ".join(sorted(programs))
    models = set(answers["model"]) - {ORACLE}
    all_ten = models == set(read_published("faultloc")["groups"]["all"])
    return table.assign(asked="all ten" if all_ten else "others")


def heat_cells(answers: pd.DataFrame, rule: str, confidence: float) -> pd.DataFrame:
    """Return the cells of the heat map of faults and quarters, from `answers`, a table
    of answers that includes the perfect localizer's.

    A cell pools all models' answers to the tasks of a fault and quarter, languages
    together. Columns: those of `shares` by quarter, row (a fault, all faults, or the
    perfect localizer), column (quarter in words) and place (the row's index).
    """
    plain = answers.query("spm == 'none'").assign(counts=True)
    perfect = plain["model"] == ORACLE
    models = plain[~perfect]
    oracle = shares(plain[perfect], ["quarter"], rule, confidence)
    oracle = oracle.assign(row=ORACLE, cell=None)
    together = shares(models, ["quarter"], rule, confidence).assign(row=ALL_FAULTS)
    single = shares(models, ["fault", "quarter"], rule, confidence)
    single["row"] = single.pop("fault")
    return in_quarters(pd.concat([oracle, together, single]))


def share_panels(table: pd.DataFrame, label: str) -> pd.DataFrame:
    """Return dots for `share_dots` from `table`, made by `localized` or `robustness`,
    with a panel for each language.

    Columns: panel, label (values of the column `label`), condition (the model), n
    (answers), cell, accuracy, low, high. If `table` has the column change, a control
    has a row of its own, named LABEL, CONTROL. If `localized` made `table`, shares are
    of the tasks that any model finds.
    """
    columns = ["kept", "cell", "accuracy_kept", "kept_low", "kept_high"]
    if "kept" not in table:
        columns = ["asked_again", "cell", "accuracy", "low", "high"]
    dots = table[["language", label, "model", *columns]].astype({label: str})
    names = ["panel", "label", "condition", "n", "cell", "accuracy", "low", "high"]
    dots = dots.set_axis(names, axis=1).replace({"panel": LANGUAGE_NAMES})
    if "change" in table:
        control = ", " + table["change"].map(spoken)
        dots["label"] += control.where(table["change"] != "mutated", "")
    return dots.sort_values("panel", ascending=False, kind="stable")


FEWEST = 10
"""Smallest number of tasks of a share that a title names."""


def headline(table: pd.DataFrame, show: str) -> str:
    """Return, in a sentence, the finding of a figure that compares what `show` says.

    The numbers are from `table` (made by `localized`). Shares of fewer than `FEWEST`
    tasks are not named.
    """
    models = table.query("model != @ORACLE")
    if show == "quarters":
        sums = models.groupby("quarter")[["found", "answers"]].sum()
        shares = 100 * sums["found"] / sums["answers"]
        first, last = shares.reindex([1, 4])
        return (
            f"{first:.0f} % of the faults in the first quarter of a program are localized, "
            f"{last:.0f} % of those in the last"
        )
    by = "fault" if show == "faults" else "model"
    large = models[models["kept"] >= FEWEST].eval("found = accuracy_kept * kept")
    sums = large.groupby(["language", by])[["found", "kept"]].sum()
    shares = 100 * sums["found"] / sums["kept"]
    if shares.empty:
        return f"No row has {FEWEST} tasks that a model localizes"
    ends = []
    for language, name in (shares.idxmax(), shares.idxmin()):
        share = f"{shares[language, name]:.0f} %"
        ends.append(f"{spoken(name)} in {LANGUAGE_NAMES[language]} ({share})")
    return f"Localized most often: {ends[0]}; least often: {ends[1]}"
