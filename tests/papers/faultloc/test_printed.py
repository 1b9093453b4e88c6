"""The motivating example to the letter: programs, edits and prompt of section II, and answers in prose."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from codestress.inference.run import run
from codestress.papers.faultloc.printed import (
    FAULT,
    Printed,
    printed_program,
)
from codestress.papers.faultloc.results.example import CONDITIONS, named_lines
from codestress.papers.faultloc.scoring import (
    line_in_prose,
    score_location,
    score_specification,
)
from codestress.parameters import questions
from codestress.prompts import prompt_text
from codestress.types import Outcome, Response
from openai_server import OpenAIServer, Received, Reply, completion

MISLEADING = "        # This function checks how many queens are on the board.\n"
ELIDED = "<CODE REMOVED FOR BREVITY>"
FIGURE_1 = """\
1 def solveNQueens(n):
2     def is_safe(board, row, col):
3         for i in range(col):
4             if board[row][i] == 1:
5                 return False
6
7         for i, j in zip(range(row, -1, -1),
8                       range(col, -1, -1)):
9             if board[i][j] == 1:
10                return False
11
12        # Off-by-one fault: the loop stops one row too
13        early
14        for i, j in zip(range(row, n-1, 1),
15                      range(col, -1, -1)):
16            if board[i][j] == 1:
17                return False
18        return True
19    <CODE REMOVED FOR BREVITY>
20    def solveQueen(board, col, result):
21        <CODE REMOVED FOR BREVITY>
22    n = 4
23    solveNQueens(n)
"""
FIGURE_3 = """\
1 Misleading variable name.
2 def howManyQueens(n):
3     def is_safe(final_result, row, col):
4         Misleading comment.
5         # This function checks how many queens
6         are on the board.
7         for i in range(col):
8             if final_result[row][i] == 1:
9                 return False
10
11         for i, j in zip(range(row, n-1, 1),
12                        range(col, -1, -1)):
13             if final_result[i][j] == 1:
14                 return False
15         return True
16 <CODE REMOVED FOR BREVITY>
17 def solveQueen(board, col, result):
18     if col == n:
19         result.append(list())
20 <CODE REMOVED FOR BREVITY>
21 Misleading function name.
22 howManyQueens(n)
"""
"""Both as the paper's text has them."""
PROMPT = (
    "This code is designed to solve the N-Queen problem. Given an input N, it should return all valid arrangements of "
    "N queens on an N × N board such that no two queens attack each other. However, the code produces incorrect "
    "output. Can you identify the specific line of code responsible for the error? The program is attached below.\n\n"
)


def printed_lines(figure: str) -> list[str]:
    """The lines of a figure without numbers, labels and white space, broken comments joined."""
    text = re.sub(r"^\d+", "", figure, flags=re.M)
    text = re.sub(r"^ *Misleading .*\n", "", text, flags=re.M)
    text = re.sub(r"\n *(early|are on the board\.)$", r" \1", text, flags=re.M)
    return [line.strip() for line in text.strip().split("\n")]


@pytest.mark.parametrize(
    ("question", "figure"), [("annotated", FIGURE_1), ("figure 3", FIGURE_3)]
)
def test_the_figures_are_to_the_letter(question: Any, figure: str) -> None:
    code = printed_program(question).code
    assert [line.strip() for line in code.split("\n")] == printed_lines(figure)


def test_the_fault_stands_where_the_paper_says() -> None:
    """Section II says line 13; Figure 3's lines 11 and 19 count its labels and the second halves of broken lines."""
    lines = {question: printed_program(question).line for question in CONDITIONS}  # type: ignore[arg-type]
    assert lines == {"faulty": 12, "annotated": 13, "edited": 13, "figure 3": 8}
    shown = FIGURE_3.split("\n")
    third = printed_program("figure 3").code.split("\n")
    for ours, theirs in ((8, 11), (16, 19)):
        assert third[ours - 1].strip() == shown[theirs - 1].lstrip("0123456789 ")
    assert third[15].strip() == "result.append(list())"


def test_the_edits_are_names_and_a_comment() -> None:
    before, after = printed_program("faulty").code, printed_program("edited").code
    assert after.count(MISLEADING) == 1
    renamed = after.replace(MISLEADING, "").replace("final_result", "board")
    assert renamed.replace("howManyQueens", "solveNQueens") == before
    third, edited = (
        {line.strip() for line in code.split("\n")}
        for code in (printed_program("figure 3").code, after)
    )
    assert third - edited == {"if col == n:", "result.append(list())"}


def test_the_prompt_is_to_the_letter() -> None:
    trials = questions(Printed(artefact="faultloc/fig02", models=["sim-wide"]))
    texts = [trials.render(trial).messages[0].content for trial in trials.items]
    programs = [printed_program(question).code for question in CONDITIONS]  # type: ignore[arg-type]
    first = prompt_text("printed.specification")
    assert texts == [first, *(PROMPT + code for code in programs)]
    assert all(FAULT in code and ELIDED in code for code in programs)
    assert "Off-by-one" not in programs[0]


CODE = printed_program("faulty").code
LINE = "for i, j in zip(range(row, n-1, 1),"
STATEMENT = f"{LINE}\n                        range(col, -1, -1)):"
PROSE = [
    (12, f"The error is in this line:\n\n```python\n{STATEMENT}\n```\nIt is `n`."),
    (12, f"Line 14 is wrong:\n`{LINE}`"),
    (12, f"The bug:\n{LINE}\nshould go on to n."),
    (12, f"> {LINE}"),
    (12, f"12: {LINE}"),
    (12, "The error is in **line 12**."),
    (12, "Line number: 12. The loop stops too early, as line 7 does not."),
    (None, "It is the `range(row, n-1, 1)` of the third loop."),
    (12, f"`{LINE}  # <- wrong`"),
    (4, "I think `if board[row][i] == 1:` is responsible."),
    (7, f"`for i, j in zip(range(row, -1, -1),` is at fault, not `{LINE}`."),
    (99, "The error is in line 99."),
    (None, f"The whole program:\n```\n{CODE}\n```"),
    (None, "`return False` is wrong."),
    (None, "I cannot tell without the removed code."),
    (None, "Change `n` to `n+1`."),
    (14, "The error is in line 14."),
    (3, f"<think>`{LINE}`</think>line 3."),
]


@pytest.mark.parametrize(("line", "text"), PROSE)
def test_answers_in_prose_are_scored(line: int | None, text: str) -> None:
    for tolerance in (0, 2):
        response = Response(text, "stop")
        found = score_location(response, 12, CODE, tolerance, prose=True).outcome
        if line is None:
            assert found is Outcome.UNPARSABLE
        else:
            right = abs(line - 12) <= tolerance
            assert found is (Outcome.CORRECT if right else Outcome.INCORRECT)
    cut = Response("The error is", "length")
    assert score_location(cut, 12, CODE, 0, prose=True).outcome is Outcome.TRUNCATED


@given(st.text(st.sampled_from("`\n#0123456789 line:for"), max_size=200))
@example("`" * 100_000)
@example("```" * 33_000)
@example("line " * 20_000)
@example("line 1" * 16_000)
@example("#\n" * 50_000)
@example("`x" * 50_000)
def test_any_text_is_read(text: str) -> None:
    number = line_in_prose(text, CODE)
    assert number is None or number >= 0


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("No two queens may share the same row, column, or diagonal.", Outcome.CORRECT),
        ("Rows: one each. Columns: one. Diagonals: at most one.", Outcome.CORRECT),
        ("No two queens may share a row or a column.", Outcome.INCORRECT),
        (prompt_text("printed.specification"), Outcome.INCORRECT),
        ("<think>row, column, diagonal</think>I do not know.", Outcome.INCORRECT),
    ],
)
def test_the_specification_names_what_no_two_queens_share(
    text: str, outcome: Outcome
) -> None:
    assert score_specification(Response(text, "stop")).outcome is outcome


def test_any_model_is_asked_the_specification_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def behave(request: Received) -> Reply:
        if request.prompt == prompt_text("printed.specification"):
            return completion("Queens share no row, column or diagonal.")
        if "final_result" in request.prompt:
            return completion("Line 5 is wrong.")
        return completion(f"The error:\n```\n{STATEMENT}\n```")

    models = ["llama-3.1-8b"]
    trials = questions(Printed(artefact="faultloc/fig02", models=models))
    with OpenAIServer(behave) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.base_url)
        answers = run(trials, models, store=tmp_path / "s.sqlite").answers
    assert answers["question"].tolist() == ["specification", *CONDITIONS]
    assert answers["value_strict"].tolist() == [1, 1, 1, 0, 0]
    table = named_lines(answers, "strict")
    assert table["condition"].tolist() == list(CONDITIONS.values())
    assert table["named_line"].tolist() == [12, 13, 5, 5]
    assert table["found"].tolist() == [1, 1, 0, 0]
    for line in (-1, 23, 9**21):
        elsewhere = named_lines(answers.assign(detail_strict=f"line {line}"), "strict")
        assert elsewhere["named_line"].isna().all()
