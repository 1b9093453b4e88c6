"""What the paper leaves open: each choice does what it says."""

import re
from pathlib import Path

import pytest
from small_study import trials_of

from codestress.inference.run import run
from codestress.papers.semtrace.contexts import SEPARATORS
from codestress.papers.semtrace.recall import score_retrieval
from codestress.types import Outcome, Prompt, Response

KEY = re.compile("[0-9a-f]{6}")
RETRIEVAL = {"tasks": ["function_retrieval", "line_retrieval"], "distractors": [4]}


def prompts(**changes: object) -> list[Prompt]:
    trials = trials_of(**RETRIEVAL | changes)
    return [trials.render(trial) for trial in trials.items]


def block(prompt: Prompt) -> list[str]:
    """Return the lines of the prompt's code."""
    _, code = prompt.messages[0].content.split("```python\n")
    return code.split("\n```")[0].split("\n")


# Slow in a process that first reads the installed functions, which most tests here have as distractors.
@pytest.mark.parametrize(("name", "separator"), SEPARATORS.items())
def test_a_line_is_right_with_its_key_and_the_separator_that_was_shown(
    name: str, separator: str, tmp_path: Path
) -> None:
    trials = trials_of(**RETRIEVAL, key_separator=name)
    judge = trials.judges["strict"]
    for trial in trials.items:
        prompt = trials.render(trial)
        lines = block(prompt)
        assert all(line[6:].startswith(separator) for line in lines)
        numbers = {line[:6]: number for number, line in enumerate(lines)}
        places = [numbers[key] for key in KEY.findall(prompt.prefill)]
        expected = lines[places[0] : places[-1] + 1]
        answer = "\n".join(["", *expected, "```"])
        assert judge(trial, Response(answer, "stop")).outcome is Outcome.CORRECT
        wrong = answer.replace(separator, "|", 1)
        assert judge(trial, Response(wrong, "stop")).outcome is Outcome.INCORRECT
    answers = run(trials, ["sim-wide"], store=tmp_path / "s.sqlite").answers
    assert answers["value_strict"].mean() > 0.5, "readers read this separator"


def test_blank_lines_have_keys_or_have_none() -> None:
    with_keys, without = prompts(keyed_blank=True), prompts(keyed_blank=False)
    for keyed_prompt, prompt in zip(with_keys, without, strict=True):
        keyed, plain = block(keyed_prompt), block(prompt)
        assert "" in plain
        expected = [line if line[6:].strip() else "" for line in keyed]
        assert plain == expected
    lines = ["def f(x):", "", "    return x"]
    keyed = ["a00001 def f(x):", "", "a00003     return x"]
    for blank, outcome in (("", Outcome.CORRECT), (" ", Outcome.INCORRECT)):
        text = f"\na00001 def f(x):\n{blank}\na00003     return x\n```"
        score = score_retrieval(lines, keyed, Response(text, "stop"), "```python")
        assert score.outcome is outcome


@pytest.mark.parametrize(("choice", "with_head"), [("any", True), ("body", False)])
def test_the_line_to_find_is_any_or_one_of_the_body(
    choice: str, with_head: bool
) -> None:
    changes = {"tasks": ["line_retrieval"], "n_problems": 60, "positions": 1}
    lines = []
    for prompt in prompts(line_asked=choice, **changes):
        [key] = KEY.findall(prompt.prefill)
        [line] = [line[7:] for line in block(prompt) if line[:6] == key]
        lines.append(line)
    assert all(line.strip() for line in lines)
    assert any(line.startswith("def f(") for line in lines) == with_head


@pytest.mark.parametrize(("redrawn", "contexts"), [(False, 1), (True, 3)])
def test_distractors_are_drawn_once_or_at_each_position(
    redrawn: bool, contexts: int
) -> None:
    changes = {"tasks": ["function_retrieval"], "n_problems": 1, "redrawn": redrawn}
    lines = set()
    for prompt in prompts(**changes):
        lines.add(frozenset(line[7:] for line in block(prompt)))
    assert len(lines) == contexts
