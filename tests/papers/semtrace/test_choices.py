"""What the paper leaves open: each choice does what it says, and is stamped as a choice."""

import ast
import re
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from codestress.inference.run import run
from codestress.papers.semtrace.contexts import SEPARATORS, trace_problems
from codestress.papers.semtrace.prompting import problems_of
from codestress.papers.semtrace.recall import score_retrieval
from codestress.papers.semtrace.results.removal import recall_sensitivity
from codestress.papers.semtrace.studies import LineRemoval, Questions
from codestress.parameters import questions
from codestress.report.protocol import stamp
from codestress.types import Outcome, Prompt, Response, Trial, Trials
from told import names

KEY = re.compile("[0-9a-f]{6}")
SMALL: dict[str, Any] = {
    "artefact": "semtrace/fig02",
    "models": ["sim-wide"],
    "problems": ["generated"],
    "tasks": ["function_retrieval", "line_retrieval"],
    "n_problems": 12,
    "distractors": [4],
    "distractor_source": "installed",
    "matched": "count",
    "positions": 2,
}


def trials_of(**changes: object) -> Trials:
    return questions(Questions.model_validate(SMALL | changes))


def prompts(trials: Trials) -> list[Prompt]:
    return [trials.render(trial) for trial in trials.items]


def block(prompt: Prompt) -> list[str]:
    _, shown = prompt.messages[0].content.split("```python\n")
    return shown.split("\n```")[0].split("\n")


# Slow in a process that first reads the installed functions, which most tests here have as distractors.
@pytest.mark.parametrize(("name", "separator"), SEPARATORS.items())
def test_a_line_is_right_with_its_key_and_the_separator_that_was_shown(
    name: str, separator: str
) -> None:
    trials = trials_of(key_separator=name)

    def outcome(trial: Trial, text: str) -> Outcome:
        return trials.judges["strict"](trial, Response(text, "stop")).outcome

    for trial in trials.items:
        prompt = trials.render(trial)
        lines = block(prompt)
        assert all(line[6:].startswith(separator) for line in lines)
        keys = [line[:6] for line in lines]
        asked = [keys.index(key) for key in KEY.findall(prompt.prefill)]
        wanted = lines[asked[0] : asked[-1] + 1]
        said = "\n".join(["", *wanted, "```"])
        assert outcome(trial, said) is Outcome.CORRECT
        start = keys[asked[0]]
        other = said.replace(start + separator, f"{start}|", 1)
        assert outcome(trial, other) is Outcome.INCORRECT


def test_readers_read_every_separator() -> None:
    for name in SEPARATORS:
        answers = run(trials_of(key_separator=name), ["sim-wide"]).answers
        assert answers["value_strict"].mean() > 0.5, name


def test_blank_lines_have_keys_or_have_none() -> None:
    both = [prompts(trials_of(keyed_blank=keyed)) for keyed in (True, False)]
    for with_blank, without in zip(*both, strict=True):
        pairs = [*zip(block(with_blank), block(without), strict=True)]
        assert any(not line for _, line in pairs)
        assert all(line in (keyed, keyed[6:].strip()) for keyed, line in pairs)
        assert all(line or not keyed[6:].strip() for keyed, line in pairs)
    lines = ["def f(x):", "", "    return x"]
    keyed = ["a00001 def f(x):", "", "a00003     return x"]
    for blank, outcome in (("", Outcome.CORRECT), (" ", Outcome.INCORRECT)):
        text = f"\na00001 def f(x):\n{blank}\na00003     return x\n```"
        score = score_retrieval(lines, keyed, Response(text, "stop"), "```python")
        assert score.outcome is outcome


def test_the_line_that_is_asked_for() -> None:
    heads = {}
    for which in ("any", "body"):
        asked = {"tasks": ["line_retrieval"], "n_problems": 60, "positions": 1}
        lines = []
        for prompt in prompts(trials_of(line_asked=which, **asked)):
            [key] = KEY.findall(prompt.prefill)
            [line] = [line[7:] for line in block(prompt) if line[:6] == key]
            lines.append(line)
        assert all(line.strip() for line in lines)
        heads[which] = any(line.startswith("def f(") for line in lines)
    assert heads == {"any": True, "body": False}


def test_distractors_are_drawn_once_or_at_each_position() -> None:
    one = {"tasks": ["function_retrieval"], "n_problems": 1}
    for redrawn, contexts in ((False, 1), (True, 2)):
        shown = prompts(trials_of(redrawn=redrawn, **one))
        others = {frozenset(line[7:] for line in block(prompt)) for prompt in shown}
        assert len(others) == contexts


@pytest.mark.parametrize(
    ("digits_of", "x_digits", "y_digits"), [("both", 4, 4), ("x", 4, 2), ("y", 2, 4)]
)
def test_digits_are_those_of_x_of_what_is_added_or_of_both(
    digits_of: Any, x_digits: int, y_digits: int
) -> None:
    added = []
    for problem in trace_problems(300, digits=4, digits_of=digits_of):
        assert len(problem.arguments) == x_digits
        x = int(problem.arguments)
        added += [value - x for value in ast.literal_eval(problem.output)]
    most = 10**y_digits
    assert -most <= min(added) < -0.9 * most
    assert 0.9 * most < max(added) < most


@pytest.mark.isolation
def test_an_input_is_run_on_the_complete_program_or_on_what_was_shown() -> None:
    """Without its last line no program returns the output, and without any other than these lines some input does."""
    values: dict[str, Any] = {"artefact": "semtrace/fig05", "models": ["sim-wide"]}
    values |= {"problems": "generated", "n_problems": 1, "tasks": ["input_prediction"]}
    [problem] = problems_of("generated", 1, 0).values()
    said = Response(f"{problem.arguments})\n```", "stop")
    for which in ("complete", "shown"):
        trials = questions(
            LineRemoval.model_validate(values | {"inputs_run_on": which})
        )
        # Without all lines but the first.
        score = trials.judges["strict"](trials.items[-1], said)
        assert (score.outcome is Outcome.CORRECT) == (which == "complete")


def test_programs_that_are_wrong_when_complete_are_left_out_or_lose_nothing() -> None:
    values = {"a": (1.0, 0.0, 0.5), "b": (1.0, 1.0, 1.0), "c": (0.0, 1.0, 0.0)}
    answers = pd.DataFrame(values).melt(var_name="problem", value_name="value_strict")
    answers = answers.assign(model="m", task="t", removed=[0, 1, 2] * 3)
    for choice, epsilon, mean, programs in (
        ("left_out", 1e-9, 0.75 / 2, 2),
        ("zero", 1e-9, 0.75 / 3, 3),
        ("left_out", 1.0, 0.75 / 4, 2),  # every quotient has R(C) + 1 = 2 below
    ):
        given = SimpleNamespace(epsilon=epsilon, complete_wrong=choice, confidence=0.95)
        found = recall_sensitivity(answers, given).iloc[0]  # type: ignore[arg-type]
        assert found["sensitivity"] == pytest.approx(mean)
        assert (found["programs"], found["complete_wrong"]) == (programs, 1)


def test_another_choice_is_stamped_as_a_choice() -> None:
    values = {name: SMALL[name] for name in ("artefact", "models", "tasks")}
    other = values | {"key_separator": "tab", "n_problems": 100}
    said = stamp(Questions.model_validate(other))
    names(
        said, "deviates", "n_problems 100", "800", "key_separator tab", "open", "space"
    )
