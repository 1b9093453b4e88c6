"""Tables as files: CSV, Markdown and LaTeX."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from codestress.errors import DataError
from codestress.types import NotRun


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write each of `tables` into `folder` as NAME.csv and NAME.md, and the table named
    `table` also as table.tex, without the column `cell`.

    Raises `DataError` if a table has no columns, before any file is written.
    """
    saved = {name: without_cells(table) for name, table in tables.items()}
    for name, table in saved.items():
        if table.columns.empty:
            raise DataError(
                f"{name}.csv would have no columns; name them where the table has no rows"
            )
    for name, table in saved.items():
        path = folder / f"{name}.csv"
        table.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
        (folder / f"{name}.md").write_text(markdown_table(table), "utf-8")
    (folder / "table.tex").write_text(latex_table(saved["table"]), "utf-8")


def without_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return `table` without the column `cell`, which leads from marks to answers."""
    return table.drop(columns="cell", errors="ignore")


def with_not_run(table: pd.DataFrame, left: tuple[NotRun, ...]) -> pd.DataFrame:
    """Return `table` with an added row for each part of the run in `left`, the parts
    that were left out.

    The added column `not_run` has the reason in these rows and is empty elsewhere. The
    table is unchanged if `left` is empty.
    """
    if not left:
        return table
    rows = []
    for part in left:
        row = {part.factor: part.value} if part.factor in table else {}
        row["not_run"] = f"{part.label}: not run here: {part.why}"
        rows.append(row)
    return pd.concat([table.assign(not_run=""), pd.DataFrame(rows)], ignore_index=True)


def markdown_table(table: pd.DataFrame) -> str:
    """Return `table` as text in GitHub-flavoured Markdown.

    Numbers have at most three decimals (`1.2e-04` below 0.001); missing values are
    empty.
    """
    names = list(map(str, table))
    lines = [names, ["---"] * len(names)]
    for row in table.itertuples(index=False):
        lines.append([cell_text(value).replace("|", "\\|") for value in row])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def latex_table(table: pd.DataFrame) -> str:
    """Return `table` as text in LaTeX with booktabs, with numbers as in
    `markdown_table`."""
    return str(
        table.to_latex(index=False, escape=True, na_rep="", float_format=cell_text)
    )


def cell_text(value: object) -> str:
    """Return `value` as text: a number with at most three decimals (`1.2e-04` below
    0.001), empty for a missing value."""
    # For a list, `isna` returns an array.
    if pd.isna(value) is True:
        return ""
    if not isinstance(value, float):
        return str(value)
    if 0 < abs(value) < 0.001:
        return f"{value:.1e}"
    return number_text(value)


def number_text(value: float) -> str:
    """Return `value` as text with at most three decimals."""
    return f"{value:.3f}".rstrip("0").rstrip(".")
