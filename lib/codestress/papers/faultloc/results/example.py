"""Tables of Fault Localizability's motivating example (Figures 1 to 3): the line of
N-Queens that each model names."""

import pandas as pd

from ..printed import printed_program
from ..scoring import NAMED

CONDITIONS = {
    "faulty": "Figure 1, without its comment",
    "annotated": "Figure 1, with its comment",
    "edited": "Figure 1, with Figure 3's edits",
    "figure 3": "Figure 3",
}
"""Dict from a question to the version of N-Queens in words."""


def named_lines(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Return a table with a row for each of `answers` (`Results.answers`) about a
    version of N-Queens.

    Failed requests are left out. Columns: condition (the version, in words), model,
    faulty_line, named_line (missing if no line of the program is named), found (0 or 1,
    by the scoring rule `rule`), cell (selects this answer).
    """
    asked = answers.query("question in @CONDITIONS and error == ''")
    versions = asked["question"]
    named = asked[f"detail_{rule}"].str.removeprefix(NAMED)
    table = asked[["model"]].reset_index(drop=True)
    table.insert(0, "condition", versions.map(CONDITIONS).array)
    programs = [printed_program(version) for version in versions]
    table["faulty_line"] = [program.line for program in programs]
    lines = pd.to_numeric(named, "coerce").astype(float)
    inside = lines.between(1, [program.lines for program in programs])
    table["named_line"] = lines.where(inside).astype("Int64").array
    table["found"] = asked[f"value_{rule}"].array
    table["cell"] = asked[["model", "question"]].to_dict("records")
    return table
