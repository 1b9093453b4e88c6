"""GBC's false conditions are false, and RTF's true ones true, for every value that may stand there; else others do."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from codestress.mutate.perturbations.edits import GlobalNames, Guard, Perturbed
from codestress.mutate.perturbations.programs import vanilla
from codestress.mutate.perturbations.rewriting import (
    insert_garbage,
    reformat_conditions,
)
from codestress.mutate.perturbations.variants import make_variants
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.types import Language
from mutate.hostile import corpus
from mutate.perturbing import draw, needs_node, usable

PLAIN = Problem(
    "plain", "def f(a):\n    if a > 1:\n        return 1\n    return 2", "f", "3", "1"
)
SCRIPT = "function f(a) {\n  if (a > 1) {\n    return 1;\n  }\n  return 2;\n}"


def both(problem: Problem, seed: int) -> list[Perturbed]:
    garbage = insert_garbage(vanilla(problem), draw("g", seed))
    return [garbage, reformat_conditions(vanilla(problem), draw("r", seed))]


def test_all_seven_conditions_stand_where_they_are_false_as_the_paper_prints_them() -> (
    None
):
    python = "False|None|0|''|a != a|not a == a|print(a)"
    script = 'false|null|0|""|a !== a|!(a === a)|console.log(a)'
    for problem, head, conditions in (
        (PLAIN, r"(?:if|while) (.*):\n", python),
        (
            replace(PLAIN, code=SCRIPT, language="javascript"),
            r"(?:if|while) \((.*)\) \{\n",
            script,
        ),
    ):
        found = set()
        for seed in range(60):
            made = insert_garbage(vanilla(problem), draw("g", seed))
            heads = [re.match(head, site.text) for site in made.sites]
            found |= {match[1] for match in heads if match}
        assert found == set(conditions.split("|"))


@pytest.mark.slow
@pytest.mark.isolation
@pytest.mark.parametrize("guard", ["tag", "refuse"])
def test_a_condition_that_may_be_true_is_put_nowhere(
    guard: Guard, executor: Executor
) -> None:
    programs = corpus("unsure_python")
    checked = usable(
        [Problem(one.why, one.code, "f", one.asked, "") for one in programs], executor
    )
    for condition in ("GBC", "RTF"):
        for seed in range(4):
            made = make_variants(checked, condition, executor, seed=seed, guard=guard)
            for one in made.values():
                assert one.status in ("applied", "refused"), one
                assert one.attempts == 1


def test_no_parameter_equals_itself_where_there_are_fractions() -> None:
    code = "def f(items):\n    if len(items) > 1:\n        return 1.5\n    return 2"
    problem = Problem("p", code, "f", "[2.5]", "2")
    for seed in range(40):
        for made in both(problem, seed):
            assert not re.search(r"items [!=]= items", made.problem.code)


@pytest.mark.slow
@pytest.mark.isolation
@needs_node
def test_javascripts_conditions_are_false_for_nan(executor: Executor) -> None:
    problems = [
        Problem(one.why, one.code, "f", one.asked, "[False]", "javascript")
        for one in corpus("unsure_javascript")
    ]
    checked = usable(problems, executor)
    for problem in problems:
        for seed in range(40):
            for made in both(problem, seed):
                assert not re.search(r"\b([bd]) [!=]== \1\b", made.problem.code)
    for condition in ("GBC", "RTF"):
        for one in make_variants(checked, condition, executor, seed=0).values():
            assert (one.status, one.attempts) == ("applied", 1), one


def test_a_name_that_may_not_be_set_is_used_nowhere() -> None:
    deleting = PLAIN.code.replace("return 1", "del a\n        b = 1\n        return b")
    later = SCRIPT.replace("return 1", "let b = 1;\n    let a = 2;\n    return a")
    for problem in (
        replace(PLAIN, code=deleting),
        replace(PLAIN, code=later, language="javascript"),
    ):
        for seed in range(40):
            for made in both(problem, seed):
                for site in made.sites:
                    added = site.text.removeprefix("a > 1 → ").replace("a > 1", "")
                    assert not re.search(r"\ba\b(?! = \d)", added), added


@pytest.mark.parametrize("language", ["python", "javascript"])
@pytest.mark.parametrize(
    ("parameters", "globals_of", "names"),
    [("a, b", "parameters", "ab"), ("a, b", "both", "abcd"), ("", "parameters", "cd")],
)
def test_globals_have_names_of_parameters_or_of_local_variables_too(
    language: Language, parameters: str, globals_of: GlobalNames, names: str
) -> None:
    """Appendix B.1.3: "a few parameters or variables"; half of them, rounded up, and without parameters those of
    variables, never those of the dead loops that are put in."""
    code = f"def f({parameters}):\n    c = 3\n    d = c * 2\n    return d"
    if language == "javascript":
        code = f"function f({parameters}) {{\n  let c = 3;\n  var d = c * 2;\n  return d;\n}}"
    problem = vanilla(Problem("p", code, "f", "1, 2", "6", language))
    seen = set()
    for seed in range(40):
        made = insert_garbage(problem, draw("g", seed), globals_of=globals_of)
        texts = [site.text for site in made.sites if site.kind == "global"]
        assert len(texts) == len(names) // 2
        seen |= {re.findall(r"\w+", text)[-2] for text in texts}
    assert seen == set(names)


@pytest.mark.isolation
def test_globals_with_names_of_variables_change_no_result(executor: Executor) -> None:
    code = (
        "def f(a):\n    def g():\n        return c\n    c = a + 1\n"
        "    d = [e * c for e in range(3)]\n    return d, g()"
    )
    checked = usable([Problem("p", code, "f", "1", "([0, 2, 4], 2)")], executor)
    for seed in range(4):
        how = {"seed": seed, "guard": "tag", "globals_of": "both"}
        made = make_variants(checked, "GBC", executor, **how)["p"]
        assert (made.status, made.attempts) == ("applied", 1)
