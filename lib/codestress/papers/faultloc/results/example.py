"""Tables of Fault Localizability's motivating example (Figures 1 to 3): the line of
N-Queens that each model names."""

import pandas as pd

from ..printed import printed_program
from ..scoring import named_in

CONDITIONS = {
    "faulty": "Figure 1, without its comment",
    "annotated": "Figure 1, with its comment",
    "edited": "Figure 1, with Figure 3's edits",
    "figure 3": "Figure 3",
}
"""Dict from a question to the version of N-Queens in words."""
COLUMNS = ["condition", "model", "faulty_line", "named_line", "found", "cell"]


def named_lines(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Return a table with a row for each of `answers` (`Results.answers`) about a
    version of N-Queens.

    Failed requests are left out. Columns: condition (the version, in words), model,
    faulty_line, named_line (missing if none is named), found (0 or 1, by the scoring
    rule `rule`), cell (selects this answer).
    """
    rows = []
    asked = answers.query("question in @CONDITIONS and error == ''")
    for answer in asked.to_dict("records"):
        question = answer["question"]
        model = answer["model"]
        faulty = printed_program(question).line
        line = named_in(answer[f"detail_{rule}"])
        cell = {"model": model, "question": question}
        right = answer[f"value_{rule}"]
        rows.append((CONDITIONS[question], model, faulty, line, right, cell))
    return pd.DataFrame(rows, columns=COLUMNS).astype({"named_line": "Int64"})
