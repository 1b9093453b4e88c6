"""Assertions between tags: gold answers score 100 %, corrupted and hostile ones 0 %; the artifact's rule beside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codestress.literals import parse_literal
from codestress.mutate.draw import Draw
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
from codestress.scoring.forms import Parts, split_thoughts
from codestress.seeding import rng
from codestress.types import Outcome, Response, Task, Usage
from conftest import slow
from scoring.exploits import INPUTS, OUTPUTS, written
from scoring.selftest import EXPLOITED

PROBLEM = Problem("p", "def f(s):\n    return s + '=='", "f", "'a'", "'a=='")
BOTH = (score_assertion, score_assertion_as_run)


def says(text: str, finish: str = "stop") -> Response:
    return Response(text, finish)  # type: ignore[arg-type]


def gold(problem: Problem, value: str | None = None) -> Response:
    equals = "===" if problem.language == "javascript" else "=="
    return says(f"[ANSWER] {problem.call} {equals} {value or problem.output} [/ANSWER]")


def test_gold_answers_are_right_and_other_values_wrong() -> None:
    for problem in (*generated_problems(60), *contest_problems()[:60]):
        assert (
            score_assertion(problem, "output", gold(problem)).outcome is Outcome.CORRECT
        )
        assert (
            score_assertion(problem, "input", gold(problem)).outcome is Outcome.CORRECT
        )
        try:
            other = other_value(
                parse_literal(problem.output).value, Draw(rng(0, problem.id))
            )
        except NoOtherValue:
            continue
        wrong = score_assertion(problem, "output", gold(problem, repr(other)))
        assert (wrong.outcome, wrong.value) == (Outcome.INCORRECT, 0.0)


def test_javascript_values() -> None:
    for problem in contest_problems("javascript")[:60]:
        value = literal_text(parse_literal(problem.output).value, "javascript")
        assert (
            score_assertion(problem, "output", gold(problem, value)).outcome
            is Outcome.CORRECT
        )
    one = Problem(
        "p",
        "function f(x) { return x; }",
        "f",
        '"a"',
        "{'k': [1, 'b', True, None]}",
        "javascript",
    )
    for right in (
        "{k: [1, 'b', true, null]}",
        '{"k": [1.0, "b", true, undefined]}',
        "({k: [1, 'b', true, null]})",
        "{k: [1, 'b', /* yes */ true, null,], } // so",
    ):
        assert (
            score_assertion(one, "output", gold(one, right)).outcome is Outcome.CORRECT
        ), right
    for wrong in ("{k: [1, 'b', 1, null]}", "{k: [1, 'b', true]}", "{}"):
        assert (
            score_assertion(one, "output", gold(one, wrong)).outcome
            is Outcome.INCORRECT
        ), wrong
    for none in (
        "f('a')",
        "`a`",
        "[1].concat(2)",
        "1 + 1",
        "x",
        "/a/",
        "() => 1",
        "new Map()",
        "0x10",
        "007",
        "1--",
        "-true",
        "-[1]",
        "(1, 2)",
        "{[a]: 1}",
        "{...a}",
        "{k: [1, 'b', , true, null]}",
        "{k: [, 1, 'b', true, null]}",
    ):
        score = score_assertion(one, "output", gold(one, none))
        assert score.outcome in (Outcome.UNPARSABLE, Outcome.SYNTAX_ERROR), none
    assert (
        score_assertion(one, "output", gold(one, "[1, ")).outcome
        is Outcome.SYNTAX_ERROR
    )
    assert score_assertion(one, "output", gold(one, "[" * 5000 + "]" * 5000)).value == 0


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (".5", "0.5"),
        ("5.", "5"),
        ("-5.0", "-5"),
        ("--1", "1"),
        ("-(-1)", "1"),
        ("[.5, (5.), 1e3]", "[0.5, 5, 1000]"),
        ("{1: .5, 'a\\'\"b': 2}", "{'1': 0.5, 'a\\'\"b': 2}"),
        ("9007199254740993", "9007199254740993"),
    ],
)
def test_javascript_values_as_a_model_may_write_them(written: str, value: str) -> None:
    one = Problem("p", "function f() {}", "f", "", value, "javascript")
    score = score_assertion(one, "output", gold(one, written))
    assert score.outcome is Outcome.CORRECT, score


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
            score = score_assertion(
                problem, "output", says(f"[ANSWER] {answer} [/ANSWER]")
            )
            assert score.value == 0, (answer, score)


@pytest.mark.isolation
@pytest.mark.parametrize(
    "name", slow(sorted(INPUTS.keys() - RIGHT_IN_THIS_FORM), *LONG)
)
def test_no_hostile_input_is_right(name: str) -> None:
    for problem in EXPLOITED:
        text = written(INPUTS[name], problem)
        for answer in (text, f"{text} == {problem.output}"):
            score = score_assertion(
                problem, "input", says(f"[ANSWER] {answer} [/ANSWER]")
            )
            assert score.value == 0, (answer, score)


def test_every_kind_of_answer_has_its_reason() -> None:
    def reason(text: str, finish: str = "stop") -> Outcome:
        return score_assertion(PROBLEM, "output", says(text, finish)).outcome

    assert reason("[ANSWER] f('a') == 'a==' [/ANSWER]") is Outcome.CORRECT
    assert reason("[ANSWER] 'a==' [/ANSWER]") is Outcome.CORRECT
    assert reason("[ANSWER] assert f('a') == 'a==' [/ANSWER]") is Outcome.CORRECT
    assert (
        reason("[ANSWER]\n```python\nf('a') == 'a=='\n```\n[/ANSWER]")
        is Outcome.CORRECT
    )
    assert (
        reason("[ANSWER] 'x' [/ANSWER] No: [ANSWER] f('a') == 'a==' [/ANSWER]")
        is Outcome.CORRECT
    )
    assert (
        reason(
            "<think>[ANSWER] 'x' [/ANSWER]</think>[ANSWER] f('a') == 'a==' [/ANSWER]"
        )
        is Outcome.CORRECT
    )
    assert reason("[ANSWER] f('a') == 'b' [/ANSWER]") is Outcome.INCORRECT
    assert reason("[ANSWER] f('a') == [/ANSWER]") is Outcome.SYNTAX_ERROR  # appendix D
    assert reason("[ANSWER] f('a') == f('a') [/ANSWER]") is Outcome.UNPARSABLE
    assert reason("[ANSWER] 'a==' == 'a==' [/ANSWER]") is Outcome.UNPARSABLE
    assert reason("The value is 'a=='.") is Outcome.UNPARSABLE
    assert reason("[ANSWER] f('a') == 'a=", "length") is Outcome.TRUNCATED
    assert (
        reason("<think>[ANSWER] f('a') == 'a==' [/ANSWER]", "length")
        is Outcome.TRUNCATED
    )
    assert reason("  ") is Outcome.REFUSED


FORMS = (
    "[ANSWER]{}[/ANSWER]",
    "[ANSWER] {}",
    "[ANSWER]\n{}\n",
    "[ANSWER] ```py\n{}\n``` [/ANSWER]",
    "[ANSWER]\n```\n{}\n```",
    "[ANSWER] ```python {}``` [/ANSWER]",
    "```\n[ANSWER]\n{}\n```",
    "[ANSWER] `{}` [/ANSWER]",
    "[ANSWER] ``{}``; [/ANSWER]",
    "**[ANSWER]** {} **[/ANSWER]**",
    "**[ANSWER]{}[/ANSWER]**",
    "**[ANSWER] {}**",
    "**[ANSWER]:** ***{}*** *[/ANSWER]*",
    "[ANSWER]: *{}* [/ANSWER]",
    "[ANSWER] **`{}`** [/ANSWER]",
    "`[ANSWER]` {} `[/ANSWER]`",
    "[ANSWER] {}; [/ANSWER]",
    "The [ANSWER] 0 [/ANSWER] was wrong: [ANSWER] {} ;\n[/ANSWER] I am sure.",
)
"""What models put around an answer."""


@pytest.mark.isolation
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("task", ["output", "input"])
def test_what_stands_around_an_answer_does_not_matter(form: str, task: Task) -> None:
    for problem in EXPLOITED:
        gold, wrong = (
            (problem.output, "'no'")
            if task == "output"
            else (problem.call, f"{problem.function}(0, 1, 2)")
        )
        whole = f"{problem.call} == {problem.output}"
        for text in (gold, whole, f"assert {whole}", f"assert ({whole}), 'as told'"):
            found = score_assertion(problem, task, says(form.format(text)))
            assert found.outcome is Outcome.CORRECT, (text, found)
        for text in (
            wrong,
            "",
            f"assert {whole}, print(1)",
            f"{problem.call} == {problem.call}",
            f"{whole}; f(1)",
        ):
            found = score_assertion(problem, task, says(form.format(text)))
            assert found.value == 0, (text, found)


@pytest.mark.isolation
@pytest.mark.isolation
@pytest.mark.parametrize("value", ["None", "True", "False"])
def test_what_is_one_of_a_kind_may_be_compared_by_is(value: str) -> None:
    one = Problem("p", f"def f(s):\n    return {value}", "f", "'a'", value)
    for task in ("output", "input"):
        for text in (f"f('a') is {value}", f"assert f('a') is {value}"):
            assert (
                score_assertion(one, task, says(f"[ANSWER] {text} [/ANSWER]")).outcome
                is Outcome.CORRECT
            )
    for text in ("f('a') is f('a')", f"f('a') is not {value}", "f('a') is 1"):
        assert (
            score_assertion(one, "output", says(f"[ANSWER] {text} [/ANSWER]")).value
            == 0
        )


def test_javascript_answers_may_be_wrapped_too() -> None:
    one = Problem(
        "p", "function f(x) { return x; }", "f", '"a"', "[1, 'b']", "javascript"
    )
    for form in FORMS:
        for text in ('f("a") === [1, "b"]', '[1, "b"]'):
            found = score_assertion(
                one, "output", says(form.format(text).replace("python", "js"))
            )
            assert found.outcome is Outcome.CORRECT, (form, found)
    for text in (
        'assert f("a") === [1, "b"]',
        'console.assert(f("a") === [1, "b"]);',
        '\\boxed{f("a") === [1, "b"]}',
        '<answer>f("a") === [1, "b"]</answer>',
        'f("<answer>2</answer>") === [1, "b"]',
        'f("a") === [1, "b"] // as it runs',
    ):
        tagged = text if text[0] in "\\<" else f"[ANSWER] {text} [/ANSWER]"
        found = score_assertion(one, "output", says(tagged))
        assert found.outcome is Outcome.CORRECT, (text, found)


@pytest.mark.isolation
def test_the_artifacts_rule_has_the_holes_that_it_has() -> None:
    none = replace(PROBLEM, code="def f(s):\n    return None", output="None")
    assert score_assertion_as_run(none, "output", says("I do not know.")).value == 1
    assert score_assertion(none, "output", says("I do not know.")).value == 0
    plain = replace(PROBLEM, code="def f(s):\n    return s", output="'a'")
    echoed = says("[ANSWER] f('a') == f('a') [/ANSWER]")
    assert (
        score_assertion_as_run(plain, "output", echoed).value,
        score_assertion(plain, "output", echoed).value,
    ) == (
        1,
        0,
    )
    # A value that holds == is cut in two, so the right answer is wrong.
    assert (
        score_assertion_as_run(
            PROBLEM, "output", says("[ANSWER] f('a') == 'a==' [/ANSWER]")
        ).value
        == 0
    )
    one = replace(PROBLEM, code="def f(s):\n    return True", output="True")
    as_number = says("[ANSWER] f('a') == 1 [/ANSWER]")
    assert (
        score_assertion_as_run(one, "output", as_number).value,
        score_assertion(one, "output", as_number).value,
    ) == (1, 0)


def test_gold_is_right_under_the_artifacts_rule_too() -> None:
    for problem in contest_problems()[:20]:
        for task in ("output", "input"):
            score = score_assertion_as_run(problem, task, gold(problem))  # type: ignore[arg-type]
            assert score.outcome is Outcome.CORRECT, (problem.id, task, score)


def test_what_is_thought_is_told_from_what_is_said() -> None:
    text = "<think>one two\nthree</think>\nfour"
    assert split_thoughts(text) == Parts("one two\nthree", "four")
    assert split_thoughts("four") == Parts("", "four")
    assert split_thoughts("its opening cut off</think>four") == Parts(
        "its opening cut off", "four"
    )
    assert split_thoughts("<think>never ends") == Parts("never ends", "")
    assert reasoning_tokens(says("<think>12345678</think>a")) == 2
    assert reasoning_tokens(Response("a", "stop", Usage(reasoning_tokens=7))) == 7


@pytest.mark.parametrize(
    "unit",
    [
        "Hmm ",
        "Hmm",
        "Wait, let me check again.\n",
        "Hmm. Maybe. So the answer is 12, no.\n",
        "ab",
    ],
)
def test_a_long_run_of_one_unit_is_a_collapse(unit: str) -> None:
    before = "The value is 3. Let me check that once more, line by line."
    found = collapse_start(before + unit * 400)
    assert found is not None
    assert abs(found - len(before)) <= len(unit)
    cut = collapse_start((before + unit * 400)[:-1])
    assert cut is not None


def test_what_only_repeats_a_little_is_no_collapse() -> None:
    assert collapse_start("") is None
    assert collapse_start("Hmm " * 10) is None
    assert (
        collapse_start(
            "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"
        )
        is None
    )
    assert (
        collapse_start("Hmm " * 400 + "So the answer is 12, and I am sure of it.")
        is None
    )
    assert collapse_start("".join(f"step {n}: x = {n}\n" for n in range(3000))) is None
    assert collapse_start("text" + "\n" * 3000) is None


def test_words_of_doubt() -> None:
    assert doubts("Wait. Maybe hmm, I'm confused; but the hint is odd. Awaiting.") == [
        0,
        6,
        12,
        21,
        31,
        47,
    ]
