"""A Python function as a model."""

from __future__ import annotations

import json
import re
from pathlib import Path

from codestress.errors import EngineError
from codestress.inference.run import run
from codestress.types import Message, Outcome, Prompt, Sampling, Score, Trial, Trials
from conftest import ROOT
from told import names, refused

TRIALS = Trials(
    [Trial(str(n), {}) for n in range(6)],
    lambda trial: Prompt(
        (Message("user", f'say "{trial.problem}"'),), Sampling(max_tokens=5), "It is"
    ),
    {
        "strict": lambda trial, response: Score(
            Outcome.CORRECT if trial.problem in response.text else Outcome.INCORRECT,
            1.0,
        )
    },
)


def rows(folder: Path, name: str = "my_model.py:answer") -> Path:
    path = folder / "models.yaml"
    settings = {"function": f"{folder}/{name}"}
    path.write_text(json.dumps({"mine": {"engine": "function", "settings": settings}}))
    return path


def test_the_readme_s_function_answers(tmp_path: Path) -> None:
    readme = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    code = re.search(r"    # my_model.py\n((?:    .*\n)+)", readme)
    assert code
    (tmp_path / "my_model.py").write_text(
        "\n".join(line[4:] for line in code[1].splitlines())
    )
    results = run(
        TRIALS, ["mine"], store=tmp_path / "s.sqlite", registry=rows(tmp_path)
    )
    assert results.counts()["mine"]["correct"] == 6
    assert (
        run(
            TRIALS, ["mine"], store=tmp_path / "s.sqlite", registry=rows(tmp_path)
        ).asked
        == 0
    )
    (tmp_path / "my_model.py").write_text(
        "def answer(messages, **how):\n    return 'no'\n"
    )
    changed = run(
        TRIALS, ["mine"], store=tmp_path / "s.sqlite", registry=rows(tmp_path)
    )
    assert (changed.asked, changed.counts()["mine"]["incorrect"]) == (6, 6)


def test_what_a_function_does_wrong_is_a_failure_of_the_request(tmp_path: Path) -> None:
    (tmp_path / "my_model.py").write_text(
        "def answer(messages, **how):\n    if '3' in messages[0]['content']: raise ValueError('three')\n"
        "    return 4 if '4' in messages[0]['content'] else messages[0]['content']\n"
    )
    results = run(
        TRIALS,
        ["mine"],
        store=tmp_path / "s.sqlite",
        registry=rows(tmp_path),
        failures="count",
    )
    assert {reason: n for reason, n in results.counts()["mine"].items() if n} == {
        "correct": 4,
        "harness error": 2,
    }
    raised, returned = sorted(filter(None, results.answers["error"]))
    names(raised, "mine", "ValueError: three")
    names(returned, "mine", "int")
    ends = "def answer(messages, **how): {}\n"
    for code in (
        "raise SystemExit(3)",
        "return next(iter([]))",
        "raise KeyboardInterrupt",
    ):
        (tmp_path / "my_model.py").write_text(ends.format(code))
        ended = run(
            TRIALS,
            ["mine"],
            store=tmp_path / "s.sqlite",
            registry=rows(tmp_path),
            failures="count",
        )
        assert ended.counts()["mine"]["harness error"] == 6
    for name in ("absent.py:answer", "my_model.py:other"):
        with refused(EngineError, "mine", name):
            run(
                TRIALS,
                ["mine"],
                store=tmp_path / "t.sqlite",
                registry=rows(tmp_path, name),
            )
