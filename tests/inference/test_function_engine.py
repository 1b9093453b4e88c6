"""A Python function as a model."""

from __future__ import annotations

import re
import textwrap
from typing import Any

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
    [Trial(str(n), {}) for n in range(6)],
    lambda trial: prompt(f'say "{trial.problem}"', "It is", max_tokens=5),
    {"strict": judge},
)


def asked(
    served: Served, code: str = "", name: str = "my_model.py:answer", **options: Any
) -> Results:
    """A run with the function, after its file is written anew."""
    if code:
        (served.folder / "my_model.py").write_text(code)
    settings = {"function": f"{served.folder}/{name}"}
    served.rows("", row={"engine": "function", "settings": settings})
    return served.run(TRIALS, **options)


def test_the_readme_s_function_answers(served: Served) -> None:
    readme = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    code = re.search(r"    # my_model.py\n((?:    .*\n)+)", readme)
    assert code
    results = asked(served, textwrap.dedent(code[1]))
    assert counts_of(results) == {"correct": 6}
    assert asked(served).asked == 0
    changed = asked(served, "def answer(messages, **how):\n    return 'no'\n")
    assert (changed.asked, counts_of(changed)) == (6, {"incorrect": 6})


def test_what_a_function_does_wrong_is_a_failure_of_the_request(served: Served) -> None:
    results = asked(
        served,
        "def answer(messages, **how):\n    if '3' in messages[0]['content']: raise ValueError('three')\n"
        "    return 4 if '4' in messages[0]['content'] else messages[0]['content']\n",
        failures="count",
    )
    assert counts_of(results) == {"correct": 4, "harness error": 2}
    raised, returned = sorted(filter(None, results.answers["error"]))
    names(raised, "served", "ValueError: three")
    names(returned, "served", "int")
    for end in ("raise SystemExit(3)", "next(iter([]))", "raise KeyboardInterrupt"):
        code = f"def answer(messages, **how): {end}\n"
        ended = asked(served, code, failures="count")
        assert counts_of(ended) == {"harness error": 6}
    for name in ("absent.py:answer", "my_model.py:other"):
        with refused(EngineError, "served", name):
            asked(served, name=name)
