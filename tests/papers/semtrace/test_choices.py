"""What the paper leaves open: each choice does what it says, and is stamped as a choice."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pandas as pd
import pytest

from codestress.papers.semtrace.contexts import SEPARATORS, Shown, mix, trace_problems
from codestress.papers.semtrace.prompting import problems_of
from codestress.papers.semtrace.recall import score_partial_trace, score_retrieval
from codestress.papers.semtrace.results.removal import recall_sensitivity
from codestress.papers.semtrace.studies import LineRemoval, Questions
from codestress.parameters import questions
from codestress.problems.program import Problem
from codestress.report.protocol import stamp
from codestress.types import Outcome, Prompt, Response, Trials
from told import names

SMALL = {
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
    return (
        prompt.messages[0].content.split("```python\n")[1].split("\n```")[0].split("\n")
    )


# Slow in a process that first reads the installed functions, which most tests here have as distractors.
@pytest.mark.parametrize("separator", ["space", "colon", "tab"])
def test_a_line_is_right_with_its_key_and_the_separator_that_was_shown(
    separator: str,
) -> None:
    trials = trials_of(key_separator=separator)
    for trial in trials.items:
        prompt = trials.render(trial)
        keyed = {line[:6]: line for line in block(prompt)}
        assert all(
            line[6:].startswith(SEPARATORS[separator]) for line in keyed.values()
        )
        keys = [line[:6] for line in block(prompt)]
        asked = [
            key
            for key in keys
            if f"`{key}`" in prompt.prefill or f"key {key}:" in prompt.prefill
        ]
        wanted = keys[keys.index(asked[0]) : keys.index(asked[-1]) + 1]
        said = "".join(f"\n{keyed[key]}" for key in wanted) + "\n```"
        assert (
            trials.judges["strict"](trial, Response(said, "stop")).outcome
            is Outcome.CORRECT
        )
        other = said.replace(wanted[0] + SEPARATORS[separator], wanted[0] + "|", 1)
        assert (
            trials.judges["strict"](trial, Response(other, "stop")).outcome
            is Outcome.INCORRECT
        )


def test_readers_read_every_separator() -> None:
    from codestress.inference.run import run

    shares = {
        separator: run(trials_of(key_separator=separator), ["sim-wide"])
        .answers["value_strict"]
        .mean()
        for separator in SEPARATORS
    }
    assert min(shares.values()) > 0.5


def test_blank_lines_have_keys_or_have_none() -> None:
    both = {keyed: prompts(trials_of(keyed_blank=keyed)) for keyed in (True, False)}
    for with_blank, without in zip(*both.values(), strict=True):
        pairs = list(zip(block(with_blank), block(without), strict=True))
        assert any(not shown for _, shown in pairs)
        assert all(
            shown == keyed if shown else not keyed[6:].strip() for keyed, shown in pairs
        )
    lines, keys = ["def f(x):", "", "    return x"], ["a00001", "", "a00003"]
    for text, outcome in (
        ("\na00001 def f(x):\n\na00003     return x\n```", Outcome.CORRECT),
        ("\na00001 def f(x):\n \na00003     return x\n```", Outcome.INCORRECT),
    ):
        assert (
            score_retrieval(lines, keys, Response(text, "stop"), "```python").outcome
            is outcome
        )


def test_functions_stand_apart_or_not() -> None:
    target, others = (
        "def f():\n    return 0",
        ["def g():\n    return 1", "def h():\n    return 2"],
    )
    for blank, between in ((True, "\n\n"), (False, "\n")):
        for position, order in enumerate(
            [[target, *others], [others[0], target, others[1]], [*others, target]]
        ):
            shown = [*map(Shown, (target, *others))]
            mixed = mix(shown, position=position, positions=3, blank_between=blank)
            assert mixed.text == between.join(order)
            assert [mixed.pieces[place] for place in mixed.target] == [target]


def test_the_line_that_is_asked_for() -> None:
    asked = {}
    for which in ("any", "body"):
        trials = trials_of(
            line_asked=which, tasks=["line_retrieval"], n_problems=60, positions=1
        )
        keyed = [
            (prompt.prefill, line)
            for prompt in prompts(trials)
            for line in block(prompt)
        ]
        asked[which] = [
            line[7:] for prefill, line in keyed if f"key {line[:6]}:" in prefill
        ]
    assert all(line.strip() for lines in asked.values() for line in lines)
    assert any(line.startswith("def f(") for line in asked["any"])
    assert not any(line.startswith("def f(") for line in asked["body"])


def test_distractors_are_drawn_once_or_at_each_position() -> None:
    for redrawn, contexts in ((False, 1), (True, 2)):
        trials = trials_of(redrawn=redrawn, tasks=["function_retrieval"], n_problems=1)
        others = {
            tuple(sorted(line[7:] for line in block(prompt)))
            for prompt in prompts(trials)
        }
        assert len(others) == contexts


@pytest.mark.parametrize(
    ("digits_of", "x_digits", "y_digits"), [("both", 4, 4), ("x", 4, 2), ("y", 2, 4)]
)
def test_digits_are_those_of_x_of_what_is_added_or_of_both(
    digits_of: str, x_digits: int, y_digits: int
) -> None:
    problems = trace_problems(300, digits=4, digits_of=digits_of)  # type: ignore[arg-type]
    assert {len(problem.arguments) for problem in problems} == {x_digits}
    added = [
        value - int(problem.arguments)
        for problem in problems
        for value in ast.literal_eval(problem.output)
    ]
    assert -(10**y_digits) <= min(added) < -0.9 * 10**y_digits
    assert 0.9 * 10**y_digits < max(added) < 10**y_digits


@pytest.mark.parametrize(
    ("text", "zero", "by_position"),
    [
        ("[81, 82, 38]", 1, 1),
        ("[81, 82]", 0, 2 / 3),
        ("[81, 82, 38, 5]", 0, 3 / 4),
        ("[82, 38]", 0, 0),
        ("[]", 0, 0),
        ("[81, 82, 0]", 2 / 3, 2 / 3),
        ("81", 0, 0),
    ],
)
def test_what_a_list_of_another_length_is_worth(
    text: str, zero: float, by_position: float
) -> None:
    problem = Problem(
        "t", "def f(x):\n    return [x, x + 1, x - 43]", "f", "81", "[81, 82, 38]"
    )
    response = Response(f" {text}\n```", "stop")
    begun = "```python\nassert f(81) =="
    assert score_partial_trace(problem, response, begun).value == pytest.approx(zero)
    assert score_partial_trace(
        problem, response, begun, any_length=True
    ).value == pytest.approx(by_position)


@pytest.mark.isolation
def test_an_input_is_run_on_the_complete_program_or_on_what_was_shown() -> None:
    """Without its last line no program returns the output, and without any other than these lines some input does."""
    values = {
        "artefact": "semtrace/fig05",
        "models": ["sim-wide"],
        "problems": "generated",
        "n_problems": 3,
    }
    outcomes = {}
    for which in ("complete", "shown"):
        given = LineRemoval.model_validate(
            values | {"tasks": ["input_prediction"], "inputs_run_on": which}
        )
        trials = questions(given)
        full = max(int(trial.factors["mask"] or 0) for trial in trials.items)
        [bare] = [
            t
            for t in trials.items
            if t.factors["mask"] == full and t.factors["removed"] == t.factors["lines"]
        ][:1]
        right = problems_of("generated", 3, 0)[bare.problem].arguments
        outcomes[which] = trials.judges["strict"](
            bare, Response(f"{right})\n```", "stop")
        ).outcome
    assert outcomes["complete"] is Outcome.CORRECT
    assert outcomes["shown"] is not Outcome.CORRECT


def test_programs_that_are_wrong_when_complete_are_left_out_or_lose_nothing() -> None:
    rows = [
        ("a", 0, 1.0), ("a", 1, 0.0), ("a", 2, 0.5),
        ("b", 0, 1.0), ("b", 1, 1.0), ("b", 2, 1.0),
        ("c", 0, 0.0), ("c", 1, 1.0), ("c", 2, 0.0),
    ]  # fmt: skip
    answers = pd.DataFrame(rows, columns=["problem", "removed", "value_strict"]).assign(
        model="m", task="t"
    )
    for choice, mean, programs in (("left_out", 0.75 / 2, 2), ("zero", 0.75 / 3, 3)):
        found = recall_sensitivity(
            answers,
            SimpleNamespace(epsilon=1e-9, complete_wrong=choice, confidence=0.95),
        ).iloc[0]
        assert found["sensitivity"] == pytest.approx(mean)
        assert (found["programs"], found["complete_wrong"]) == (programs, 1)
    half = recall_sensitivity(
        answers,
        SimpleNamespace(epsilon=1.0, complete_wrong="left_out", confidence=0.95),
    ).iloc[0]
    assert half["sensitivity"] == pytest.approx(
        0.75 / 4
    )  # every quotient has R(C) + 1 = 2 below


def test_another_choice_is_stamped_as_a_choice() -> None:
    values = {
        "artefact": "semtrace/fig02",
        "models": ["llama-3.1-8b"],
        "tasks": ["function_retrieval", "line_retrieval"],
    }
    other = Questions.model_validate(
        values | {"key_separator": "tab", "n_problems": 100}
    )
    names(
        stamp(other),
        "deviates",
        "n_problems 100",
        "800",
        "key_separator tab",
        "open",
        "space",
    )
