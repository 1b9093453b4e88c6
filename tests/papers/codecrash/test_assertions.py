"""Assertions between tags: gold answers score 100 %, corrupted and hostile ones 0 %; the artifact's rule beside."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from codestress.literals import parse_literal
from codestress.mutate.perturbations.inputs import NoOtherValue, other_value
from codestress.papers.codecrash.assertions import (
    score_assertion,
    score_assertion_as_run,
)
from codestress.papers.codecrash.contest_programs import contest_problems
from codestress.papers.codecrash.results.reasoning import (
    collapse_start,
    doubts,
    reasoning_tokens,
)
from codestress.problems.pool import generated_problems
from codestress.problems.program import Problem, literal_text
from codestress.types import FinishReason, Outcome, Response, Score, Task, Usage
from conftest import slow
from mutate.perturbing import draw
from scoring.exploits import INPUTS, OUTPUTS, written
from scoring.selftest import EXPLOITED

PROBLEM = Problem("p", "def f(s):\n    return s + '=='", "f", "'a'", "'a=='")
TASKS: tuple[Task, ...] = ("output", "input")


def tagged(text: str) -> Response:
    return Response(f"[ANSWER] {text} [/ANSWER]", "stop")


def score(problem: Problem, text: str, task: Task = "output") -> Score:
    """The strict score of an answer between tags."""
    return score_assertion(problem, task, tagged(text))


def script(output: str) -> Problem:
    code = "function f(x) { return x; }"
    return Problem("p", code, "f", '"a"', output, "javascript")


def test_gold_answers_are_right_and_other_values_wrong() -> None:
    for problem in (*generated_problems(60), *contest_problems()[:60]):
        gold = f"{problem.call} == {problem.output}"
        for task in TASKS:
            assert score(problem, gold, task).outcome is Outcome.CORRECT
        with suppress(NoOtherValue):
            true = parse_literal(problem.output).value
            other = other_value(true, draw(problem.id))
            wrong = score(problem, f"{problem.call} == {other!r}")
            assert (wrong.outcome, wrong.value) == (Outcome.INCORRECT, 0.0)
    for problem in contest_problems("javascript")[:60]:
        value = literal_text(parse_literal(problem.output).value, "javascript")
        found = score(problem, f"{problem.call} === {value}")
        assert found.outcome is Outcome.CORRECT, found


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("{k: [1, 'b', true, null]}", "{'k': [1, 'b', True, None]}"),
        ('{"k": [1.0, "b", true, undefined]}', "{'k': [1, 'b', True, None]}"),
        ("({k: [1, /* yes */ 'b',], } // so\n)", "{'k': [1, 'b']}"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-5.0", "-5"),
        ("--1", "1"),
        ("-(-1)", "1"),
        ("[.5, (5.), 1e3]", "[0.5, 5, 1000]"),
        ("{1: .5, 'a\\'\"b': 2}", "{'1': 0.5, 'a\\'\"b': 2}"),
        ("9007199254740993", "9007199254740993"),
        ('"a\\nb"', "'a\\nb'"),
    ],
)
def test_javascript_values_as_a_model_may_write_them(written: str, value: str) -> None:
    for answer in (f'f("a") === {written}', written):
        found = score(script(value), answer)
        assert found.outcome is Outcome.CORRECT, found
        assert "\n" not in found.detail


def test_other_values_in_javascript_are_wrong_and_what_is_none_has_its_reason() -> None:
    one = script("{'k': [1, 'b', True, None]}")
    assert score(one, "g('a') === {k: [1, 'b', true, null]}").value == 0
    for wrong in ("{k: [1, 'b', 1, null]}", "{k: [1, 'b', true]}", "{}"):
        found = score(one, f'f("a") === {wrong}')
        assert found.outcome is Outcome.INCORRECT, found
    calls = ("f('a')", "[1].concat(2)", "1 + 1", "new Map()", "() => 1")
    names = ("`a`", "x", "/a/", "{[a]: 1}", "{...a}")
    numbers = ("0x10", "007", "1--", "-[1]", "(1, 2)")
    holes = ("{k: [1, 'b', , true, null]}", "{k: [, 1, 'b', true, null]}")
    for none in (*calls, *names, *numbers, *holes):
        found = score(one, f'f("a") === {none}')
        assert found.outcome in (Outcome.UNPARSABLE, Outcome.SYNTAX_ERROR), none
    assert score(one, 'f("a") === [1, ').outcome is Outcome.SYNTAX_ERROR
    assert score(one, f'f("a") === {"[" * 5000}{"]" * 5000}').value == 0


LONG = ("a million characters", "deep sum", "deep minus", "deep attributes")
RIGHT_IN_THIS_FORM = {"an assertion of something else"}
"""An exploit of other harnesses that this form of answer allows: of inputs the call alone is judged."""


@pytest.mark.parametrize(
    "name", slow(sorted(OUTPUTS.keys() - RIGHT_IN_THIS_FORM), *LONG)
)
def test_no_hostile_output_is_right(name: str) -> None:
    for problem in EXPLOITED:
        text = written(OUTPUTS[name], problem)
        for answer in (text, f"{problem.call} == {text}"):
            found = score(problem, answer)
            assert found.value == 0, (answer, found)


@pytest.mark.isolation
@pytest.mark.parametrize(
    "name", slow(sorted(INPUTS.keys() - RIGHT_IN_THIS_FORM), *LONG)
)
def test_no_hostile_input_is_right(name: str) -> None:
    for problem in EXPLOITED:
        text = written(INPUTS[name], problem)
        for answer in (text, f"{text} == {problem.output}"):
            found = score(problem, answer, "input")
            assert found.value == 0, (answer, found)


GOLD = "[ANSWER] f('a') == 'a==' [/ANSWER]"


@pytest.mark.parametrize(
    ("text", "finish", "reason"),
    [
        (f"[ANSWER] 'x' [/ANSWER] No: {GOLD}", "stop", Outcome.CORRECT),
        (f"<think>[ANSWER] 'x' [/ANSWER]</think>{GOLD}", "stop", Outcome.CORRECT),
        ("[ANSWER] f('a') == 'b' [/ANSWER]", "stop", Outcome.INCORRECT),
        # Appendix D.
        ("[ANSWER] f('a') == [/ANSWER]", "stop", Outcome.SYNTAX_ERROR),
        ("[ANSWER] f('a') == f('a') [/ANSWER]", "stop", Outcome.UNPARSABLE),
        ("[ANSWER] 'a==' == 'a==' [/ANSWER]", "stop", Outcome.UNPARSABLE),
        ("The value is 'a=='.", "stop", Outcome.UNPARSABLE),
        ("  ", "stop", Outcome.REFUSED),
        ("[ANSWER] f('a') == 'a=", "length", Outcome.TRUNCATED),
        (f"<think>{GOLD}", "length", Outcome.TRUNCATED),
    ],
)
def test_every_kind_of_answer_has_its_reason(
    text: str, finish: FinishReason, reason: Outcome
) -> None:
    found = score_assertion(PROBLEM, "output", Response(text, finish))
    assert found.outcome is reason


FORMS = (
    "[ANSWER]{}[/ANSWER]",
    "[ANSWER] {}",
    "```\n[ANSWER]\n{}\n```",
    "[ANSWER] ``{}``; [/ANSWER]",
    "**[ANSWER]:** ***{}*** *[/ANSWER]*",
    "The [ANSWER] 0 [/ANSWER] was wrong: [ANSWER] {} ;\n[/ANSWER] I am sure.",
)
"""Tags that models write around an answer; test_forms.py has what else comes off."""


@pytest.mark.isolation
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("task", TASKS)
def test_what_stands_around_an_answer_does_not_matter(form: str, task: Task) -> None:
    for problem in EXPLOITED:
        whole = f"{problem.call} == {problem.output}"
        side = problem.output if task == "output" else problem.call
        right = (side, whole, f"assert {whole}", f"assert ({whole}), 'as told'")
        other = "'no'" if task == "output" else f"{problem.function}(0, 1, 2)"
        several = (f"assert {whole}, print(1)", f"{whole}; f(1)")
        wrong = (other, "", *several, f"{problem.call} == {problem.call}")
        for text in (*right, *wrong):
            answer = Response(form.format(text), "stop")
            found = score_assertion(problem, task, answer)
            assert (found.outcome is Outcome.CORRECT) == (text in right), (text, found)
            assert found.value == (text in right)


@pytest.mark.isolation
@pytest.mark.parametrize("value", ["None", "True", "False"])
def test_what_is_one_of_a_kind_may_be_compared_by_is(value: str) -> None:
    one = Problem("p", f"def f(s):\n    return {value}", "f", "'a'", value)
    for task in TASKS:
        for text in (f"f('a') is {value}", f"assert f('a') is {value}"):
            assert score(one, text, task).outcome is Outcome.CORRECT
    for text in ("f('a') is f('a')", f"f('a') is not {value}", "f('a') is 1"):
        assert score(one, text).value == 0


def test_javascript_answers_may_be_wrapped_too() -> None:
    one, whole = script("[1, 'b']"), 'f("a") === [1, "b"]'
    answers = [form.format(text) for form in FORMS for text in (whole, '[1, "b"]')]
    answers += [f"\\boxed{{{whole}}}", f"<answer>{whole}</answer>"]
    wrapped = (f"assert {whole}", f"console.assert({whole});", f"{whole} // runs")
    for text in (*wrapped, 'f("<answer>2</answer>") === [1, "b"]'):
        answers.append(tagged(text).text)
    for answer in answers:
        found = score_assertion(one, "output", Response(answer, "stop"))
        assert found.outcome is Outcome.CORRECT, (answer, found)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("Hmm " * 400, True),
        ("Wait, let me check again.\n" * 400, True),
        ("Hmm. Maybe. So the answer is 12, no.\n" * 400, True),
        ("", False),
        ("Hmm " * 10, False),
        (f"[{'1, ' * 21}1]", False),
        ("Hmm " * 400 + "So the answer is 12, and I am sure of it.", False),
        ("".join(f"step {n}: x = {n}\n" for n in range(3000)), False),
        ("text" + "\n" * 3000, False),
    ],
)
def test_a_long_run_of_one_unit_at_the_end_is_a_collapse(
    text: str, starts: bool
) -> None:
    before = "The value is 3. Let me check that once more, line by line."
    found = collapse_start(before + text)
    assert (found is not None) == starts
    if found is not None:
        assert abs(found - len(before)) <= len(text) // 400
        assert collapse_start((before + text)[:-1]) is not None


@pytest.mark.isolation
@pytest.mark.parametrize(
    ("value", "answer", "strict", "as_run"),
    [
        ("None", "I do not know.", 0, 1),
        ("s", "[ANSWER] f('a') == f('a') [/ANSWER]", 0, 1),
        ("True", "[ANSWER] f('a') == 1 [/ANSWER]", 0, 1),
        ("s + '=='", GOLD, 1, 0),  # the value is cut in two
    ],
)
def test_the_artifacts_rule_has_the_holes_that_it_has(
    value: str, answer: str, strict: int, as_run: int
) -> None:
    code, output = f"def f(s):\n    return {value}", repr(eval(value, {"s": "a"}))
    problem = replace(PROBLEM, code=code, output=output)
    response = Response(answer, "stop")
    assert score_assertion(problem, "output", response).value == strict
    assert score_assertion_as_run(problem, "output", response).value == as_run


def test_gold_is_right_and_another_input_wrong_under_the_artifacts_rule_too() -> None:
    for problem in contest_problems()[:20]:
        gold = tagged(f"{problem.call} == {problem.output}")
        for task in TASKS:
            found = score_assertion_as_run(problem, task, gold)
            assert found.outcome is Outcome.CORRECT, (problem.id, task, found)
    wrong = tagged("f(4) == 6")
    assert score_assertion_as_run(EXPLOITED[0], "input", wrong).value == 0


def test_tokens_of_reasoning_are_those_of_the_server_or_of_the_thoughts() -> None:
    thought = Response("<think>12345678</think>a", "stop")
    assert reasoning_tokens(thought) == 2
    assert reasoning_tokens(Response("a", "stop", Usage(reasoning_tokens=7))) == 7


def test_words_of_doubt() -> None:
    text = "Wait. Maybe hmm, I'm confused; but the hint is odd. Awaiting."
    assert doubts(text) == [0, 6, 12, 21, 31, 47]
