"""A Python function as a model."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import pytest

from codestress.errors import EngineError
from codestress.inference.results import Results
from codestress.types import Outcome, Response, Score, Trial, Trials
from conftest import ROOT
from served import Served, counts_of, prompt
from told import names, refused


def judge(trial: Trial, response: Response) -> Score:
    right = trial.problem in response.text
    return Score(Outcome.CORRECT if right else Outcome.INCORRECT, 1.0)


TRIALS = Trials(
    [Trial(str(number), {}) for number in range(6)],
    lambda trial: prompt(f'say "{trial.problem}"', "It is", max_tokens=5),
    {"strict": judge},
)
NO = "def answer(messages, **how):\n    return 'no'\n"


def run(
    served: Served, code: str, name: str = "my_model.py:answer", **options: Any
) -> Results:
    """Ask the function with this name, after writing its file."""
    (served.folder / "my_model.py").write_text(code)
    settings = {"function": f"{served.folder}/{name}"}
    served.rows("", row={"engine": "function", "settings": settings})
    return served.run(TRIALS, **options)


def test_the_function_of_the_documentation_answers(served: Served) -> None:
    """Its answers are kept until its file changes."""
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    code = re.search(r"    # my_model.py\n((?:    .*\n)+)", text)
    assert code
    function = textwrap.dedent(code[1])
    assert counts_of(run(served, function)) == {"correct": 6}
    assert run(served, function).asked == 0
    changed = run(served, NO)
    assert (changed.asked, counts_of(changed)) == (6, {"incorrect": 6})


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("raise ValueError('three')", "ValueError: three"),
        ("return 4", "int"),
        ("raise SystemExit(3)", "SystemExit"),
        ("next(iter([]))", "StopIteration"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_a_fault_of_the_function_is_a_failure_of_the_request(
    served: Served, statement: str, part: str
) -> None:
    code = f"def answer(messages, **how):\n    {statement}\n"
    results = run(served, code, failures="count")
    assert counts_of(results) == {"harness error": 6}
    names(results.answers["error"][0], "served", part)


@pytest.mark.parametrize("name", ["absent.py:answer", "my_model.py:other"])
def test_a_function_that_is_not_there_is_named(served: Served, name: str) -> None:
    with refused(EngineError, "served", name):
        run(served, NO, name)
